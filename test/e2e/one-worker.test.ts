import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { pause } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

describe('a server with one worker, held by our stream', { concurrency: true }, () => {
  everyWay('answers every call, and is left without a stream', async (t, kind) => {
    verifies('listen/one-worker');
    const server = await startFaultyServer({ workers: 1 });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const keys = ['a', 'b', 'c', 'd'];
    for (const key of keys) {
      assert.equal(await host.call('count', { key }, { timeout: 20_000 }), `counted ${key}`);
    }
    assert.deepEqual(server.tools.twice(), []);
    const gets = server.log.count({ method: 'GET' });
    for (const key of ['e', 'f']) await host.call('count', { key }, { timeout: 2_000 });
    await pause(300);
    assert.equal(server.log.count({ method: 'GET' }), gets, 'asked again for a stream that starves calls');
    assert.ok(gets <= 2, `${gets} GETs`);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('answers calls of a client that may be asked, too', async (t, kind) => {
    verifies('listen/one-worker');
    const server = await startFaultyServer({ workers: 1 });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { client: { onElicit: async () => 'yes' } });
    for (const key of ['a', 'b']) {
      assert.equal(await host.call('count', { key }, { timeout: 20_000 }), `counted ${key}`);
    }
    await host.close();
    await assertAllEnded(server);
  });
});
