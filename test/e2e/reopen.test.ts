import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { bareTransport, callTool, connect, MAJORS, newClient } from '../support/clients.js';
import type { AnyClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { refusal, startSdkServer } from '../support/sdk-server.js';
import type { SdkServer } from '../support/sdk-server.js';
import { everyWay, openHost } from '../support/ways.js';

const NO_VALID_SESSION = refusal(-32000, 'Bad Request: No valid session ID provided');

/** How a session is lost in mid-life. */
const LOSSES: readonly (readonly [string, (server: SdkServer) => void | Promise<void>])[] = [
  ['a 404', (server) => server.expireAll()],
  ['a server restart', (server) => server.restart(50)],
  [
    'a 400 "No valid session ID"',
    (server) => {
      server.refuseWith(400, NO_VALID_SESSION);
      server.expireAll();
    },
  ],
];

for (const [name, lose] of LOSSES) {
  describe(`after ${name}`, () => {
    everyWay('the next call answers, and nothing runs twice or is lost', async (t, kind) => {
      verifies('refused/next-call-answers');
      const server = await startSdkServer({ major: kind.major });
      t.after(() => server.stop());
      const host = await openHost(t, kind, server.url);
      await host.call('count', { key: 'before' });
      await lose(server);
      const keys = ['one', 'two', 'three'];
      for (const key of keys) assert.equal(await host.call('count', { key }), `counted ${key}`);
      assert.equal(server.log.count({ rpc: 'initialize' }), 2);
      assert.deepEqual(server.tools.twice(), []);
      assert.deepEqual(server.tools.lost(keys), []);
      await host.close();
      await assertAllEnded(server);
    });

    everyWay('ten calls at once answer over one initialize', async (t, kind) => {
      verifies('refused/one-reopen-for-all');
      const server = await startSdkServer({ major: kind.major });
      t.after(() => server.stop());
      const host = await openHost(t, kind, server.url);
      await host.call('count', { key: 'before' });
      await lose(server);
      const keys = Array.from({ length: 10 }, (_, n) => `k${n}`);
      const answers = await Promise.all(keys.map((key) => host.call('count', { key })));
      assert.deepEqual(
        answers,
        keys.map((key) => `counted ${key}`),
      );
      assert.equal(server.log.count({ rpc: 'initialize' }), 2);
      assert.deepEqual(server.tools.twice(), []);
      assert.deepEqual(server.tools.lost(keys), []);
      await host.close();
      await assertAllEnded(server);
    });
  });
}

describe('ten scopes after a server restart', () => {
  for (const major of MAJORS) {
    it(`re-open ten sessions, none refused (SDK v${major}, createSessions)`, async (t) => {
      verifies('refused/reopens-are-paced-not-refused');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const round = (name: string) =>
        Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            sessions.use('main', { scope: `scope-${n}` }, (client) =>
              callTool(client as AnyClient, 'count', { key: `${name}${n}` }),
            ),
          ),
        );
      await round('a');
      await server.restart(20);
      assert.equal((await round('b')).length, 10);
      assert.equal(server.log.count({ rpc: 'initialize' }), 20);
      assert.equal(server.sessions, 10);
      assert.equal(sessions.stats().servers.main?.reopened, 10);
      assert.deepEqual(server.tools.twice(), []);
      await sessions.close();
      await assertAllEnded(server);
    });
  }

  for (const major of MAJORS) {
    it(`so do ten transports (SDK v${major}, createTransport)`, async (t) => {
      verifies('refused/reopens-are-paced-not-refused');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const kind = { major, way: 'createTransport' } as const;
      const hosts = await Promise.all(Array.from({ length: 10 }, () => openHost(t, kind, server.url)));
      await server.restart(20);
      await Promise.all(hosts.map((host, n) => host.call('count', { key: `b${n}` })));
      assert.equal(server.log.count({ rpc: 'initialize' }), 20);
      await Promise.all(hosts.map((host) => host.close()));
      await assertAllEnded(server);
    });
  }
});

describe('what is no refusal', () => {
  everyWay('a 404 whose body says "method not found" is an answer', async (t, kind) => {
    verifies('refused/method-not-found-is-an-answer');
    const server = await startFaultyServer({ answer: 'json' });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const error = { code: -32601, message: 'Method not found' };
    server.faults.calls = [{ kind: 'status', status: 404, body: { jsonrpc: '2.0', id: null, error } }];
    await assert.rejects(host.call('count', { key: 'a' }));
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('a 503 or a 500 fails the call at once and keeps the session', async (t, kind) => {
    verifies('refused/other-errors-keep-the-session');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    for (const status of [500, 503]) {
      server.faults.calls = [{ kind: 'status', status, body: { error: 'busy' } }];
      await assert.rejects(host.call('count', { key: `s${status}` }, { timeout: 10_000 }));
    }
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    assert.deepEqual(server.tools.twice(), []);
    await host.close();
    await assertAllEnded(server);
  });
});

for (const major of MAJORS) {
  it(`the bare SDK v${major} fails every call after a 404`, async (t) => {
    const server = await startSdkServer({ major });
    t.after(() => server.stop());
    const client = newClient(major);
    await connect(client, bareTransport(major, server.url));
    server.expireAll();
    for (const key of ['a', 'b', 'c']) await assert.rejects(callTool(client, 'count', { key }));
    assert.equal(server.tools.total, 0);
    await client.close();
  });
}
