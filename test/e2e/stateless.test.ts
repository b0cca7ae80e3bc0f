import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../requirements.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause } from '../support/until.js';
import { everyWay, openHost, WAYS } from '../support/ways.js';

describe('a server that issues no id', () => {
  everyWay('passes through: no GET in vain, no DELETE, nothing invented', async (t, kind) => {
    verifies('stateless/passes-through');
    const server = await startSdkServer({ major: kind.major, era: 'stateless' });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const keys = ['a', 'b', 'c'];
    await Promise.all(keys.map((key) => host.call('count', { key })));
    await server.restart(20);
    assert.equal(await host.call('count', { key: 'd' }), 'counted d');
    await host.close();
    await pause(100);
    assert.equal(server.log.count({ method: 'GET' }), 0);
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    assert.ok(server.log.entries.every(({ sid }) => sid === undefined));
    assert.deepEqual(server.tools.twice(), []);
  });

  everyWay('does not become another session when a call is answered 404', async (t, kind) => {
    verifies('stateless/passes-through');
    const server = await startFaultyServer({ stateless: true });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    server.faults.calls = [{ kind: 'status', status: 404 }];
    await assert.rejects(host.call('count', { key: 'a' }));
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
  });
});

describe('a server of 2026-07-28', () => {
  for (const way of WAYS) {
    it(`is spoken to without sessions (SDK v2, ${way})`, async (t) => {
      verifies('stateless/2026-07-28');
      const server = await startSdkServer({ major: 2, era: '2026-07-28' });
      t.after(() => server.stop());
      const client = { pin: '2026-07-28' };
      const host = await openHost(t, { way, major: 2 }, server.url, { client });
      for (const key of ['a', 'b']) assert.equal(await host.call('count', { key }), `counted ${key}`);
      await host.close();
      await pause(100);
      assert.equal(server.log.count({ rpc: 'initialize' }), 0);
      assert.equal(server.log.count({ method: 'GET' }), 0);
      assert.equal(server.log.count({ method: 'DELETE' }), 0);
      assert.ok(server.log.entries.every(({ sid }) => sid === undefined));
    });
  }
});
