import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, it } from 'node:test';
import { createSessions, type Sessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { type AnyClient, callTool, MAJORS, newClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { codeOf } from '../support/ways.js';

for (const major of MAJORS) {
  describe(`principals, on SDK v${major}`, () => {
    const user = new AsyncLocalStorage<string>();
    const open = (url: string, more: object): Sessions<AnyClient> =>
      createSessions({ servers: { main: { url, ...more } }, createClient: () => newClient(major) });
    const count = (sessions: Sessions<AnyClient>, key: string): Promise<unknown> =>
      sessions.use('main', { scope: 'chat' }, (client) => callTool(client, 'count', { key }));

    it('never share: each session is opened, used and ended with its own credentials', async (t) => {
      verifies('auth/principals-never-share');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      const headers = () => ({ authorization: `Bearer token-of-${user.getStore() ?? 'nobody'}` });
      const sessions = open(server.url, { headers, maxSessions: 1 });
      t.after(() => sessions.close());
      for (let round = 0; round < 3; round += 1) {
        await Promise.all(
          ['alice', 'bob'].map((name) => user.run(name, () => count(sessions, `${name}-${round}`))),
        );
      }
      assert.equal(server.log.count({ rpc: 'initialize' }), 2);
      // Closing happens in nobody's context, and still each session is ended by who opened it.
      await sessions.close();
      await assertAllEnded(server);
      const bySession = new Map<string, Set<string>>();
      for (const { sid, headers: sent } of server.log.select({})) {
        if (sid === undefined) continue;
        const seen = bySession.get(sid) ?? new Set();
        bySession.set(sid, seen.add(String(sent.authorization)));
      }
      assert.deepEqual([...bySession.values()].map((seen) => [...seen].join()).toSorted(), [
        'Bearer token-of-alice',
        'Bearer token-of-bob',
      ]);
    });

    it('are opened in the context of who waits, not of who makes room', async (t) => {
      verifies('auth/principals-never-share');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      const headers = () => ({ authorization: 'Bearer shared', 'x-trace': user.getStore() ?? 'nobody' });
      const sessions = open(server.url, { headers, maxSessions: 1 });
      t.after(() => sessions.close());
      const lease = await user.run('first', () => sessions.acquire('main', { scope: 'a' }));
      const waiting = user.run('second', () => sessions.acquire('main', { scope: 'b' }));
      user.run('first', () => lease.release());
      (await waiting).release();
      const opened = server.log.select({ rpc: 'initialize' }).map(({ headers: sent }) => sent['x-trace']);
      assert.deepEqual(opened, ['first', 'second']);
      await sessions.close();
      await assertAllEnded(server);
    });

    it('that the host names share one session, whatever their token is today', async (t) => {
      verifies('auth/named-principal');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      let n = 0;
      const headers = () => ({ authorization: `Bearer ${++n}` });
      const sessions = open(server.url, { headers, principal: () => 'me' });
      t.after(() => sessions.close());
      for (let round = 0; round < 5; round += 1) await count(sessions, `k${round}`);
      assert.equal(server.log.count({ rpc: 'initialize' }), 1);
      await sessions.close();
      await assertAllEnded(server);
    });

    it('that change with every request are never shared, and leave nothing behind', async (t) => {
      verifies('auth/principals-never-share');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      let n = 0;
      const headers = () => ({ authorization: `Signature ${++n}` });
      const sessions = open(server.url, { headers, maxSessions: 4 });
      t.after(() => sessions.close());
      for (let round = 0; round < 8; round += 1) await count(sessions, `k${round}`);
      assert.ok(server.peakSessions <= 4, `${server.peakSessions} at once`);
      await sessions.close();
      await assertAllEnded(server);
    });

    it('that are no string are an error', async (t) => {
      verifies('auth/named-principal');
      const principal = (() => ({ name: 'alice' })) as unknown as () => string;
      const sessions = open('http://127.0.0.1:1/mcp', { principal });
      t.after(() => sessions.close());
      assert.equal(await codeOf(sessions.acquire('main')), 'MOORING_BAD_OPTIONS');
    });
  });
}
