import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe } from 'node:test';
import { verifies } from '../../requirements.js';
import { until } from '../../support/until.js';
import { assertReleased, everyWay, start } from './host.js';

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
