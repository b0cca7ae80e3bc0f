import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../requirements.js';
import { spawnHost } from '../../support/child.js';
import { startFaultyServer } from '../../support/faulty-server.js';
import { preload } from '../../support/ways.js';
import { everyWay, GONE_MS } from './host.js';

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
