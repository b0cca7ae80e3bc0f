import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createSessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { callTool, MAJORS, newClient } from '../support/clients.js';
import type { AnyClient, Major } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { until } from '../support/until.js';
import { codeOf, everyWay, openHost } from '../support/ways.js';
import type { Bounds } from '../support/ways.js';

function manage(t: TestContext, major: Major, url: string, bounds: Bounds) {
  const sessions = createSessions({
    servers: { main: { url, ...bounds } },
    createClient: () => newClient(major),
  });
  t.after(() => sessions.close());
  return sessions;
}

for (const { major, scopes } of [
  { major: 1, scopes: 1_000 },
  { major: 2, scopes: 200 },
] as const) {
  it(`${scopes} scopes against maxSessions 4: at most 4 live, first come first served (SDK v${major})`, async (t) => {
    verifies('bounds/max-sessions');
    verifies('bounds/first-come-first-served');
    const server = await startSdkServer({ major, json: true });
    t.after(() => server.stop());
    const sessions = manage(t, major, server.url, { maxSessions: 4, acquireMs: 150_000 });
    const served: number[] = [];
    await Promise.all(
      Array.from({ length: scopes }, (_, n) =>
        sessions.use('main', { scope: `scope-${n}` }, async (client) => {
          served.push(n);
          await callTool(client as AnyClient, 'count', { key: `k${n}` });
        }),
      ),
    );
    assert.ok(server.peakSessions <= 4, `${server.peakSessions} at once`);
    assert.equal(served.length, scopes);
    // Four at a time open side by side, so neighbours may overtake one another by a place or three.
    const displaced = served.map((n, place) => Math.abs(n - place));
    assert.ok(Math.max(...displaced) <= 4, `somebody was served ${Math.max(...displaced)} places off`);
    assert.deepEqual(server.tools.twice(), []);
    assert.equal(server.tools.total, scopes);
    await sessions.close();
    await assertAllEnded(server);
  });
}

for (const major of MAJORS) {
  describe(`a full pool, on SDK v${major}`, () => {
    it('a waiter past its deadline is told who holds the sessions', async (t) => {
      verifies('bounds/deadline-names-holders');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = manage(t, major, server.url, { maxSessions: 2, acquireMs: 300 });
      const [a, b] = await Promise.all([
        sessions.acquire('main', { scope: 'alpha' }),
        sessions.acquire('main', { scope: 'beta' }),
      ]);
      assert.equal(sessions.stats().servers.main?.leased, 2);
      await assert.rejects(
        sessions.acquire('main', { scope: 'gamma' }),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'MOORING_POOL_EXHAUSTED');
          assert.match(error.message, /alpha/);
          assert.match(error.message, /beta/);
          return true;
        },
      );
      a.release();
      a.release();
      const c = await sessions.acquire('main', { scope: 'gamma' });
      assert.ok(server.peakSessions <= 2);
      b.release();
      c.release();
      assert.equal(sessions.stats().servers.main?.leased, 0);
      await sessions.close();
      await assertAllEnded(server);
    });

    it('retires the least recently used session without a lease, never a leased one', async (t) => {
      verifies('bounds/retires-least-recently-used');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = manage(t, major, server.url, { maxSessions: 2, acquireMs: 5_000 });
      const call = (scope: string) =>
        sessions.use('main', { scope }, (client) => callTool(client as AnyClient, 'count', { key: scope }));
      await call('old');
      await call('young');
      const held = await sessions.acquire('main', { scope: 'old' });
      await call('newcomer');
      const opens = () => server.log.count({ rpc: 'initialize' });
      assert.equal(opens(), 3);
      await call('old');
      assert.equal(opens(), 3, 'the leased one is there still');
      await call('young');
      assert.equal(opens(), 4, 'the one without a lease had to go');
      held.release();
      assert.ok(server.peakSessions <= 2);
      await sessions.close();
      await assertAllEnded(server);
    });

    it('a waiter that gives up leaves the line', async (t) => {
      verifies('bounds/first-come-first-served');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const sessions = manage(t, major, server.url, { maxSessions: 1, acquireMs: 5_000 });
      const held = await sessions.acquire('main', { scope: 'holder' });
      const caller = new AbortController();
      const waiting = sessions.acquire('main', { scope: 'impatient', signal: caller.signal });
      const gone = assert.rejects(waiting);
      await until('a waiter', () => sessions.stats().servers.main?.waiting === 1);
      caller.abort();
      await gone;
      assert.equal(sessions.stats().servers.main?.waiting, 0);
      held.release();
      await sessions.close();
      await assertAllEnded(server);
    });

    it('opens that outpace ends are backed off from', async (t) => {
      verifies('bounds/opens-are-paced');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      // Nothing that this host opens ever ends: each scope asks for one more.
      server.faults.deletes = Array.from({ length: 200 }, () => ({ status: 503, retryAfter: '60' }));
      let backedOff = 0;
      const onBackedOff = (): void => {
        backedOff += 1;
      };
      subscribe('mooring:open:backed-off', onBackedOff);
      t.after(() => unsubscribe('mooring:open:backed-off', onBackedOff));
      const sessions = manage(t, major, server.url, { maxSessions: 2, acquireMs: 4_000, deleteMs: 500 });
      const opens = Array.from({ length: 60 }, (_, n) =>
        sessions.use('main', { scope: `s${n}` }, () => {}).catch(() => {}),
      );
      await Promise.all(opens);
      assert.ok(backedOff > 0);
      const opened = server.log.count({ rpc: 'initialize' });
      assert.ok(opened < 30, `${opened} opens in 4 s`);
      await sessions.close();
      server.expireAll();
    });
  });
}

describe('a server that asks to wait', () => {
  everyWay('at initialize is obeyed', async (t, kind) => {
    verifies('bounds/retry-after-obeyed');
    const server = await startFaultyServer({
      initializes: [
        { status: 503, retryAfter: '1' },
        { status: 429, retryAfter: '1' },
      ],
    });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    const [first, second, third] = server.log.select({ rpc: 'initialize' });
    assert.ok(first && second && third);
    assert.ok(second.at - first.at >= 950);
    assert.ok(third.at - second.at >= 950);
    await host.close();
    await assertAllEnded(server);
  });
});

describe('two clients that evict each other', () => {
  for (const major of MAJORS) {
    for (const way of ['createTransport', 'createSessions'] as const) {
      it(`end in MOORING_REOPEN_STORM, not in a storm (SDK v${major}, ${way})`, async (t) => {
        verifies('refused/storm-guard');
        const server = await startFaultyServer({ capacity: 1 });
        t.after(() => server.stop());
        const hosts = [];
        for (let n = 0; n < 2; n++) hosts.push(await openHost(t, { way, major }, server.url));
        let storms = 0;
        for (let n = 0; n < 40; n++) {
          for (const host of hosts) {
            const failed = await host.call('count', { key: `k${n}` }).then(
              () => undefined,
              (error: unknown) => codeOf(Promise.reject(error as Error)),
            );
            if (failed === 'MOORING_REOPEN_STORM') storms += 1;
          }
        }
        const opens = server.log.count({ rpc: 'initialize' });
        assert.ok(storms > 0);
        assert.ok(opens <= 10, `${opens} initialize for 80 calls`);
        for (const host of hosts) await host.close();
        await assertAllEnded(server);
      });
    }
  }

  everyWay('and a server without affinity end the same way', async (t, kind) => {
    verifies('refused/storm-guard');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { listen: 'off' } });
    await host.call('count', { key: 'before' });
    server.faults.affinity = false;
    const codes = new Set<string | undefined>();
    for (let n = 0; n < 30; n++) {
      await host.call('count', { key: `k${n}` }).catch(async (error: unknown) => {
        codes.add(await codeOf(Promise.reject(error as Error)));
      });
    }
    assert.ok(codes.has('MOORING_REOPEN_STORM'), [...codes].join());
    assert.ok(server.log.count({ rpc: 'initialize' }) <= 10);
    assert.deepEqual(server.tools.twice(), []);
    server.faults.affinity = true;
    await host.close();
    server.expireAll();
  });
});
