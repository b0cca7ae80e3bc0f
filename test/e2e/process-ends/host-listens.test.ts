import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../requirements.js';
import { assertAllEnded, confirmedDeletes } from '../../support/ended.js';
import { pause } from '../../support/until.js';
import { assertReleased, everyWay, start } from './host.js';

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

describe('a host that ends at a signal unless others listen', { concurrency: 2 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    everyWay(`ends at ${signal} as it would alone`, async (t, kind) => {
      verifies('process-end/not-counted');
      const running = await start(t, kind, 'only-listener.mjs');
      await running.host.event('ready');
      running.host.kill(signal);
      const end = await assertReleased(running, performance.now());
      assert.deepEqual([end.code, end.signal], [5, null]);
    });
  }
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
