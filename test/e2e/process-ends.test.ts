import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import type { TestContext } from 'node:test';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import type { ChildEnd, HostChild, SpawnHostOptions } from '../support/child.js';
import type { Major } from '../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import type { SdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';
import { everyWay as everyWayOf, PROCESS_WAYS, preload } from '../support/ways.js';
import type { Way } from '../support/ways.js';

/** The process, and its sessions, must be gone this soon. */
const GONE_MS = 3_000;

type Body = Parameters<typeof everyWayOf>[1];
const everyWay = (title: string, run: Body): void => everyWayOf(title, run, { ways: PROCESS_WAYS });

interface Running {
  server: SdkServer;
  host: HostChild;
}

async function start(
  t: TestContext,
  { way, major }: { way: Way; major: Major },
  file: string,
  options: SpawnHostOptions = {},
): Promise<Running> {
  const server = await startSdkServer({ major });
  const host = spawnHost(file, {
    ...options,
    nodeArgs: preload(way),
    args: [server.url, String(major), way],
  });
  t.after(async () => {
    await host.stop();
    await server.stop();
  });
  return { server, host };
}

/** All three sessions are confirmed, and the process went in time. */
async function assertReleased({ server, host }: Running, since: number): Promise<ChildEnd> {
  const end = await host.ended;
  const took = performance.now() - since;
  assert.ok(took < GONE_MS, `gone after ${Math.round(took)} ms`);
  assert.equal(server.sessions, 0, `sessions are left\n${host.stderr}`);
  assert.equal(confirmedDeletes(server), 3);
  assert.equal(server.log.count({ rpc: 'initialize' }), 3);
  await assertAllEnded(server);
  return end;
}

describe('a host that ends', { concurrency: 2 }, () => {
  everyWay('naturally, idle and with live sessions, exits by itself with 0', async (t, kind) => {
    verifies('process-end/natural');
    const running = await start(t, kind, 'natural-end.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [0, null]);
  });

  everyWay('by process.exit() keeps its code', async (t, kind) => {
    verifies('process-end/exit');
    const running = await start(t, kind, 'process-exit.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [7, null]);
  });

  everyWay('by an uncaught error keeps the stack and the exit code of Node', async (t, kind) => {
    verifies('process-end/uncaught');
    const running = await start(t, kind, 'uncaught-throw.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [1, null]);
    assert.match(running.host.stderr, /Error: boom from a timer\n\s+at .*uncaught-throw\.mjs/);
  });

  everyWay('by an unhandled rejection as well', async (t, kind) => {
    verifies('process-end/uncaught');
    const running = await start(t, kind, 'unhandled-rejection.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [1, null]);
    assert.match(running.host.stderr, /boom from a promise/);
  });
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  describe(`a host that gets ${signal}`, { concurrency: 2 }, () => {
    everyWay('releases its sessions, and its parent sees the true signal', async (t, kind) => {
      verifies('process-end/signal');
      const running = await start(t, kind, 'waits.mjs');
      await running.host.event('ready');
      running.host.kill(signal);
      const end = await assertReleased(running, performance.now());
      assert.deepEqual([end.code, end.signal], [null, signal]);
    });

    everyWay('does so with signal-exit installed, whose callbacks run too', async (t, kind) => {
      verifies('process-end/signal-exit');
      const running = await start(t, kind, 'with-signal-exit.mjs');
      await running.host.event('ready');
      running.host.kill(signal);
      const end = await assertReleased(running, performance.now());
      assert.deepEqual([end.code, end.signal], [null, signal]);
      const [heard, ...more] = running.host.lines.filter(({ event }) => event === 'signal-exit');
      assert.equal(heard?.signal, signal);
      assert.deepEqual(more, []);
    });
  });
}

describe('a host whose server does not answer', { concurrency: 2 }, () => {
  for (const how of ['is gone', 'never answers a DELETE'] as const) {
    everyWay(`because it ${how}, ends in time all the same`, async (t, { way, major }) => {
      verifies('process-end/deadline');
      const server = await startFaultyServer();
      const host = spawnHost('waits.mjs', {
        nodeArgs: preload(way),
        args: [server.url, String(major), way],
      });
      t.after(async () => {
        await host.stop();
        await server.stop();
      });
      await host.event('ready');
      if (how === 'is gone') await server.stop();
      else server.faults.deletes = Array.from({ length: 9 }, () => 'hang');
      host.kill('SIGTERM');
      const end = await host.ended;
      assert.ok(end.afterMs < GONE_MS, `gone after ${Math.round(end.afterMs)} ms`);
      assert.equal(end.signal, 'SIGTERM');
      if (how !== 'is gone') assert.equal(server.log.count({ method: 'DELETE' }), 3);
    });
  }

  everyWay('ends by process.exit() in time as well', async (t, { way, major }) => {
    verifies('process-end/deadline');
    const server = await startFaultyServer({ deletes: Array.from({ length: 9 }, () => 'hang') });
    const host = spawnHost('process-exit.mjs', {
      nodeArgs: preload(way),
      args: [server.url, String(major), way],
    });
    t.after(async () => {
      await host.stop();
      await server.stop();
    });
    await host.event('ending');
    const since = performance.now();
    const end = await host.ended;
    assert.ok(performance.now() - since < GONE_MS);
    assert.equal(end.code, 7);
  });
});

describe('a host that listens to signals itself', { concurrency: 2 }, () => {
  everyWay('and cancels a turn at SIGINT keeps its sessions', async (t, kind) => {
    verifies('process-end/signal-is-the-hosts');
    const { host, server } = await start(t, kind, 'own-sigint.mjs');
    await host.event('ready');
    for (const turn of [1, 2]) {
      host.kill('SIGINT');
      await host.event(`went-on-${turn}`);
      assert.equal(server.log.count({ method: 'DELETE' }), 0);
      assert.equal(server.sessions, 3);
      assert.equal(server.tools.runs(`after-${turn}-0`), 1);
    }
    assert.equal(server.log.count({ rpc: 'initialize' }), 3);
    const since = performance.now();
    host.kill('SIGTERM');
    const end = await assertReleased({ host, server }, since);
    assert.equal(end.signal, 'SIGTERM');
  });

  everyWay('and drains after SIGTERM gets an answer to each of its calls', async (t, kind) => {
    verifies('process-end/signal-is-the-hosts');
    const running = await start(t, kind, 'drains.mjs', { env: { DRAIN_MS: '10000' } });
    await running.host.event('ready');
    running.host.kill('SIGTERM');
    await pause(2_000);
    assert.equal(running.server.log.count({ method: 'DELETE' }), 0);
    const { answered, failed } = await running.host.event('drained', 20_000);
    assert.equal(failed, 0);
    assert.ok(Number(answered) > 5);
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [0, null]);
  });
});

describe('the listeners of the process', { concurrency: 2 }, () => {
  everyWay('are as many after 20 cycles of open and close as before', async (t, kind) => {
    verifies('process-end/constant-listeners');
    const { host, server } = await start(t, kind, 'cycles.mjs');
    const { before, after } = await host.event('counted', 30_000);
    assert.deepEqual(after, before);
    assert.equal((await host.ended).code, 0);
    assert.doesNotMatch(host.stderr, /MaxListeners/);
    await assertAllEnded(server);
    assert.equal(confirmedDeletes(server), 63);
  });

  everyWay('are one set, however many sessions', async (t, kind) => {
    verifies('process-end/constant-listeners');
    const { host, server } = await start(t, kind, 'many.mjs');
    const { before, open } = (await host.event('counted', 30_000)) as Record<string, Record<string, number>>;
    for (const [event, count] of Object.entries(open ?? {})) {
      assert.ok(count <= (before?.[event] ?? 0) + 1, `${count} listeners for ${event}`);
    }
    assert.equal((await host.ended).code, 0);
    assert.doesNotMatch(host.stderr, /MaxListeners/);
    await assertAllEnded(server);
  });
});

const UNSHARE = 'unshare';
const NAMESPACE = [UNSHARE, '--pid', '--fork', '--kill-child'];

/** The only child of a process, by its pid out here. */
function childOf(pid: number): number | undefined {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return pids === '' ? undefined : Number(pids.split(' ')[0]);
}

function needsNamespaces(): void {
  const { status, stderr, error } = spawnSync(UNSHARE, [...NAMESPACE.slice(1), 'true'], { encoding: 'utf8' });
  if (status === 0) return;
  assert.fail(
    `needs "unshare --pid" (util-linux, as root or with user namespaces): ${error?.message ?? stderr}`,
  );
}

describe('a host that is PID 1 of a namespace', { concurrency: 2 }, () => {
  for (const [file, code] of [
    ['natural-end.mjs', 0],
    ['process-exit.mjs', 7],
    ['uncaught-throw.mjs', 1],
  ] as const) {
    everyWay(`releases its sessions at the end of ${file}`, async (t, kind) => {
      verifies('process-end/pid-1');
      needsNamespaces();
      const running = await start(t, kind, file, { prefix: NAMESPACE });
      await running.host.event('ending');
      const end = await assertReleased(running, performance.now());
      assert.equal(end.code, code);
    });
  }

  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
    ['SIGHUP', 1],
  ] as const) {
    everyWay(`releases them at ${signal}, which it cannot die of`, async (t, kind) => {
      verifies('process-end/pid-1');
      needsNamespaces();
      const running = await start(t, kind, 'waits.mjs', { prefix: NAMESPACE });
      await running.host.event('ready');
      const inner = await until('the inner process', () => childOf(running.host.pid));
      process.kill(inner, signal);
      const end = await assertReleased(running, performance.now());
      // A signal that PID 1 sends itself has no effect, so it can only exit; unshare passes on what it saw.
      assert.ok(end.signal === signal || end.code === 128 + number, `${end.signal} ${end.code}`);
    });
  }
});
