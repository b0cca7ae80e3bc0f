import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, it } from 'node:test';
import { CHANNEL_NAMES, createSessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { callTool, MAJORS, newClient } from '../support/clients.js';
import type { AnyClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
import { until } from '../support/until.js';

for (const major of MAJORS) {
  describe(`leases and events, on SDK v${major}`, () => {
    it('a lease shows the session behind it, across a re-open, and is given back once', async (t) => {
      verifies('lease/handle');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const lease = await sessions.acquire('main', { scope: 'chat' });
      assert.deepEqual([lease.server, lease.scope, lease.generation], ['main', 'chat', 1]);
      assert.match(String(lease.session), /^[0-9a-f]{12}$/);
      const [first] = [lease.session];
      server.expireAll();
      await callTool(lease.client as AnyClient, 'count', { key: 'a' });
      assert.equal(lease.generation, 2);
      assert.notEqual(lease.session, first);
      assert.equal(sessions.stats().servers.main?.leased, 1);
      await lease[Symbol.asyncDispose]();
      lease.release();
      const stats = sessions.stats().servers.main;
      assert.deepEqual([stats?.leased, stats?.live, stats?.opened, stats?.reopened], [0, 1, 1, 1]);
      assert.ok(Object.isFrozen(stats));
      await sessions.close();
      assert.deepEqual([sessions.stats().servers.main?.live, sessions.stats().servers.main?.deleted], [0, 1]);
      await assert.rejects(sessions.acquire('main'), { code: 'MOORING_CLOSED' });
      await assertAllEnded(server);
    });

    it('a function that throws gives its session back', async (t) => {
      verifies('lease/handle');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const broken = sessions.use('main', {}, () => {
        throw new Error('mine');
      });
      await assert.rejects(broken, /mine/);
      assert.equal(sessions.stats().servers.main?.leased, 0);
      await sessions.close();
      await assertAllEnded(server);
    });

    it('each turn of a session is told on a channel, without its id', async (t) => {
      verifies('events/channels');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const told: { name: string; event: Record<string, unknown> }[] = [];
      const note = (event: unknown, name: string | symbol): void => {
        told.push({ name: String(name), event: event as Record<string, unknown> });
      };
      for (const name of CHANNEL_NAMES) subscribe(name, note);
      t.after(() => {
        for (const name of CHANNEL_NAMES) unsubscribe(name, note);
      });
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const call = (key: string) =>
        sessions.use('main', { scope: 'chat' }, (client) => callTool(client as AnyClient, 'count', { key }));
      await call('a');
      await until('a stream', () => told.some(({ name }) => name === 'mooring:stream:opened'));
      server.expireAll();
      await call('b');
      await sessions.close();
      const names = told.map(({ name }) => name.replace('mooring:', ''));
      for (const name of ['session:opened', 'session:reopened', 'session:retired', 'session:terminated']) {
        assert.ok(names.includes(name), `${name} is missing in ${names.join()}`);
      }
      const end = told.findLast(({ name }) => name === 'mooring:session:terminated')?.event;
      assert.deepEqual(
        [end?.server, end?.scope, end?.generation, end?.reason, end?.status],
        ['main', 'chat', 2, 'closed', 200],
      );
      const text = JSON.stringify(told);
      for (const sid of server.log.issued()) assert.ok(!text.includes(sid));
      await assertAllEnded(server);
    });
  });
}
