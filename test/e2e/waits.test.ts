import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions, type FetchLike } from 'mooring/client';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import { type AnyClient, callTool, newClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { codeOf } from '../support/ways.js';

describe('waiting', () => {
  it('for a place keeps the process until the deadline has named the holders', async (t) => {
    verifies('bounds/deadline-names-holders');
    const server = await startFaultyServer();
    const host = spawnHost('waits-for-place.mjs', { args: [server.url] });
    t.after(async () => {
      await host.stop();
      await server.stop();
    });
    const end = await host.ended;
    assert.deepEqual(host.lines, [{ event: 'failed', code: 'MOORING_POOL_EXHAUSTED' }]);
    assert.equal(end.code, 0);
    await assertAllEnded(server);
  });

  it('for an `initialized` that is never answered ends with the deadline, and the scope begins anew', async (t) => {
    verifies('open/shared');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    let hung = 0;
    const swallowing: FetchLike = (url, init) => {
      if (hung > 0 || !init.body?.includes('notifications/initialized')) return fetch(url, init);
      hung += 1;
      return new Promise((_, reject) => {
        init.signal.addEventListener('abort', () => reject(init.signal.reason as Error), { once: true });
      });
    };
    const sessions = createSessions({
      servers: { main: { url: server.url, acquireMs: 400, fetch: swallowing, listen: 'off' } },
      createClient: (): AnyClient => newClient(1),
    });
    t.after(() => sessions.close());
    const use = (): Promise<unknown> =>
      sessions.use('main', {}, (client) => callTool(client, 'count', { key: 'a' }));
    assert.equal(await codeOf(use()), 'MOORING_OPEN_FAILED');
    await use();
    assert.equal(hung, 1);
    await sessions.close();
    await assertAllEnded(server);
  });

  it('as the server asked outlives the sessions that were refused', async (t) => {
    verifies('bounds/retry-after-obeyed');
    const initializes = Array.from({ length: 9 }, () => ({ status: 503, retryAfter: '60' }));
    const server = await startFaultyServer({ initializes });
    t.after(() => server.stop());
    const sessions = createSessions({
      servers: { main: { url: server.url, acquireMs: 200 } },
      createClient: () => newClient(2),
    });
    t.after(() => sessions.close());
    for (let n = 0; n < 4; n += 1) {
      assert.equal(await codeOf(sessions.use('main', { scope: `s${n}` }, () => {})), 'MOORING_OPEN_FAILED');
    }
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
  });

  it('is what opens do that no end pays for, one scope after the other', async (t) => {
    verifies('bounds/opens-are-paced');
    const server = await startFaultyServer({ deletes: Array.from({ length: 400 }, () => ({ status: 500 })) });
    t.after(() => server.stop());
    const sessions = createSessions({
      servers: { main: { url: server.url, maxSessions: 2, acquireMs: 50, listen: 'off' } },
      createClient: () => newClient(1),
    });
    t.after(() => sessions.close());
    for (let n = 0; n < 30; n += 1) {
      const scope = `s${n}`;
      await sessions.use('main', { scope }, () => {}).catch(() => {});
      await sessions.endScope(scope);
    }
    assert.ok(
      server.log.count({ rpc: 'initialize' }) < 10,
      `${server.log.count({ rpc: 'initialize' })} opens`,
    );
  });
});
