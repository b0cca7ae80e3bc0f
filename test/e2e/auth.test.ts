import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { until } from '../support/until.js';
import { codeOf, everyWay, openHost, WITH_CREDENTIALS } from '../support/ways.js';

describe('credentials', () => {
  everyWay(
    'are asked for at every request, DELETE included',
    async (t, kind) => {
      verifies('auth/asked-for-each-request');
      const server = await startFaultyServer({ token: 'T1' });
      t.after(() => server.stop());
      let token = 'T1';
      const headers = () => ({ authorization: `Bearer ${token}` });
      const host = await openHost(t, kind, server.url, { bounds: { headers } });
      const streams = () => server.log.count({ method: 'GET', status: 200 });
      await host.call('count', { key: 'a' });
      await until('a stream', () => streams() === 1);
      token = 'T2';
      server.faults.token = 'T2';
      await host.call('count', { key: 'b' });
      // An opaque token is a principal of its own, and principals share no session.
      const opens = kind.way === 'createSessions' ? 2 : 1;
      await until('its stream', () => streams() === opens);
      token = 'T3';
      server.faults.token = 'T3';
      await host.close();
      assert.deepEqual(server.log.select({ status: 401 }), []);
      assert.equal(server.log.count({ rpc: 'initialize' }), opens);
      for (const { headers: sent } of server.log.select({ method: 'DELETE' })) {
        assert.equal(sent.authorization, 'Bearer T3');
      }
      await assertAllEnded(server);
    },
    { ways: WITH_CREDENTIALS },
  );

  everyWay(
    'that were replaced in the meantime are fetched once for all callers after a 401',
    async (t, kind) => {
      verifies('auth/one-refresh');
      const server = await startFaultyServer({ token: 'T1' });
      t.after(() => server.stop());
      let current = 'T1';
      let refreshes = 0;
      const authProvider = {
        token: async () => current,
        onUnauthorized: async () => {
          refreshes += 1;
          await new Promise((resolve) => setTimeout(resolve, 50));
          current = 'T2';
        },
      };
      const host = await openHost(t, kind, server.url, { bounds: { authProvider } });
      await host.call('count', { key: 'a' });
      server.faults.token = 'T2';
      const keys = ['b', 'c', 'd', 'e', 'f'];
      await Promise.all(keys.map((key) => host.call('count', { key })));
      assert.equal(refreshes, 1);
      assert.deepEqual(server.tools.twice(), []);
      assert.deepEqual(server.tools.lost(keys), []);
      assert.equal(server.log.count({ rpc: 'initialize' }), 1);
      await host.close();
      await assertAllEnded(server);
    },
    { ways: WITH_CREDENTIALS },
  );

  everyWay(
    'that stay wrong end in an error of their own, not in a new session for ever',
    async (t, kind) => {
      verifies('auth/stays-wrong');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      const host = await openHost(t, kind, server.url);
      await host.call('count', { key: 'a' });
      server.faults.token = 'secret';
      assert.equal(await codeOf(host.call('count', { key: 'b' })), 'MOORING_UNAUTHORIZED');
      assert.ok(server.log.count({ rpc: 'initialize' }) <= 2);
      server.faults.token = undefined;
      assert.equal(await host.call('count', { key: 'c' }), 'counted c');
      await host.close();
      await assertAllEnded(server);
    },
    { ways: WITH_CREDENTIALS },
  );

  everyWay('a 401 without a challenge whose body names the session is a refusal', async (t, kind) => {
    verifies('refused/next-call-answers');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const body = { error: 'Invalid session' };
    server.faults.refuse = { status: 401, body };
    server.expireAll();
    assert.equal(await host.call('count', { key: 'a' }), 'counted a');
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
    await host.close();
    await assertAllEnded(server);
  });
});

describe('secrets', () => {
  everyWay('no id and no credential appears in an error', async (t, kind) => {
    verifies('secrets/not-in-errors');
    const server = await startFaultyServer({ token: 'very-secret' });
    t.after(() => server.stop());
    const bounds = { headers: { authorization: 'Bearer very-secret' } };
    const host = await openHost(t, kind, server.url, { bounds });
    const sid = String(server.log.issued()[0]);
    const seen: string[] = [];
    const note = async (promise: Promise<unknown>): Promise<void> => {
      await promise.then(
        () => assert.fail('was to fail'),
        (error: Error) => seen.push(`${error.stack} ${JSON.stringify(error)}`),
      );
    };
    server.faults.calls = [{ kind: 'destroy' }, { kind: 'status', status: 500, body: { sid } }];
    await note(host.call('count', { key: 'a' }));
    await note(host.call('count', { key: 'b' }));
    await server.stop();
    await note(host.call('count', { key: 'c' }, { timeout: 1_500 }));
    assert.equal(seen.length, 3);
    for (const text of seen) assert.ok(!text.includes(sid) && !text.includes('very-secret'), text);
    await until('the tool ran once', () => server.tools.runs('a') === 1);
  });
});
