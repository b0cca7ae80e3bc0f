import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { bareTransport, callTool, connect, MAJORS, newClient } from '../support/clients.js';
import type { AnyClient } from '../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

describe('close()', () => {
  everyWay('ends the session with exactly one DELETE, and nothing follows', async (t, kind) => {
    verifies('ending/one-delete');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    assert.equal(await host.call('count', { key: 'a' }), 'counted a');
    await until('a listening stream', () => server.log.count({ method: 'GET', status: 200 }) === 1);
    await host.close();
    assert.equal(server.sessions, 0);
    const asked = server.log.entries.length;
    await host.close();
    await pause(300);
    assert.equal(server.log.entries.length, asked, 'nothing is sent after close');
    assert.equal(server.log.count({ method: 'DELETE' }), 1);
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await assertAllEnded(server);
  });

  everyWay('called twice at once sends one DELETE', async (t, kind) => {
    verifies('ending/one-delete');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await Promise.all([host.close(), host.close()]);
    assert.equal(server.log.count({ method: 'DELETE' }), 1);
    await assertAllEnded(server);
  });

  // Only createSessions: client.close() of the SDK itself rejects what is in flight.
  for (const major of MAJORS) {
    it(`lets a call in flight finish, and refuses new ones (SDK v${major}, createSessions)`, async (t) => {
      verifies('ending/drains');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const host = await openHost(t, { way: 'createSessions', major }, server.url);
      const slow = host.call('slow', { key: 's', ms: 400 });
      await until('the tool runs', () => server.tools.runs('s') === 1);
      const closing = host.close();
      await assert.rejects(host.call('count', { key: 'late' }), { code: 'MOORING_CLOSED' });
      assert.equal(await slow, 'slept s');
      await closing;
      assert.deepEqual(server.tools.lost(['late']), ['late']);
      assert.equal(confirmedDeletes(server), 1);
      await assertAllEnded(server);
    });
  }

  for (const major of MAJORS) {
    it(`of the bare SDK v${major} leaves the session behind`, async (t) => {
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const client = newClient(major);
      await connect(client, bareTransport(major, server.url));
      await callTool(client, 'count', { key: 'a' });
      await client.close();
      await pause(200);
      assert.equal(server.log.count({ method: 'DELETE' }), 0);
      assert.equal(server.sessions, 1);
    });
  }
});

for (const major of MAJORS) {
  describe(`ends of a part, on SDK v${major}`, () => {
    it('the end of a scope ends its sessions and no others', async (t) => {
      verifies('ending/scope');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const call = (scope: string, key: string) =>
        sessions.use('main', { scope }, (client) => callTool(client as AnyClient, 'count', { key }));
      await Promise.all([call('a', '1'), call('b', '2')]);
      assert.equal(server.sessions, 2);
      await sessions.endScope('a');
      assert.equal(server.sessions, 1);
      await call('b', '3');
      assert.equal(server.log.count({ rpc: 'initialize' }), 2);
      await sessions.close();
      await assertAllEnded(server);
      assert.equal(confirmedDeletes(server), 2);
    });

    it('a reload ends what is gone or changed, and keeps what is the same', async (t) => {
      verifies('ending/reload');
      const [kept, gone, changed] = await Promise.all([1, 2, 3].map(() => startSdkServer({ major })));
      assert.ok(kept && gone && changed);
      t.after(() => Promise.all([kept.stop(), gone.stop(), changed.stop()]));
      const sessions = createSessions({
        servers: { kept: { url: kept.url }, gone: { url: gone.url }, changed: { url: changed.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const call = (name: string, key: string) =>
        sessions.use(name, {}, (client) => callTool(client as AnyClient, 'count', { key }));
      for (const name of ['kept', 'gone', 'changed']) await call(name, name);
      await sessions.reload({
        kept: { url: kept.url, maxSessions: 3 },
        changed: { url: changed.url, headers: { 'x-team': 'blue' } },
      });
      await until('the removed server is left', () => gone.sessions === 0);
      await until('the changed one too', () => changed.sessions === 0);
      assert.equal(kept.sessions, 1, 'a change of bounds alone ends nothing');
      for (const name of ['kept', 'changed']) await call(name, `${name} again`);
      await assert.rejects(call('gone', 'x'));
      assert.equal(kept.log.count({ rpc: 'initialize' }), 1);
      assert.equal(changed.log.count({ rpc: 'initialize' }), 2);
      assert.equal(changed.log.select({ rpc: 'tools/call' }).at(-1)?.headers['x-team'], 'blue');
      await sessions.close();
      for (const server of [kept, gone, changed]) await assertAllEnded(server);
      assert.deepEqual([kept, gone, changed].map(confirmedDeletes), [1, 1, 2]);
    });
  });
}
