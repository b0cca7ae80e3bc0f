import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../requirements.js';
import { assertReleased, everyWay, start } from './host.js';

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
