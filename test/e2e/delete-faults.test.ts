import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { pause, until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

describe('a DELETE', { concurrency: 8 }, () => {
  everyWay('that hangs delays close() by its deadline and no more', async (t, kind) => {
    verifies('ending/one-deadline');
    const server = await startFaultyServer({ deletes: ['hang'] });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    const started = performance.now();
    await host.close();
    const took = performance.now() - started;
    assert.ok(took < 2_500, `close() took ${Math.round(took)} ms`);
    assert.equal(server.log.count({ method: 'DELETE' }), 1);
    // The second try, which the server answers, comes later and in nobody's way.
    await assertAllEnded(server, 15_000);
    assert.equal(confirmedDeletes(server), 1);
  });

  everyWay('answered 503 and then 200 is confirmed in the end', async (t, kind) => {
    verifies('ending/unconfirmed-is-tried-again');
    const server = await startFaultyServer({ deletes: [{ status: 503 }] });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.close();
    await assertAllEnded(server, 15_000);
    assert.deepEqual(
      server.log.select({ method: 'DELETE' }).map(({ status }) => status),
      [503, 200],
    );
  });

  everyWay('answered 429 is tried again when Retry-After says so', async (t, kind) => {
    verifies('ending/unconfirmed-is-tried-again');
    const server = await startFaultyServer({ deletes: [{ status: 429, retryAfter: '2' }] });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.close();
    await assertAllEnded(server, 15_000);
    const [first, second] = server.log.select({ method: 'DELETE' });
    assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 1_950);
  });

  for (const status of [202, 204, 404, 405, 501]) {
    everyWay(`answered ${status} is confirmed`, async (t, kind) => {
      verifies('ending/what-confirms');
      const server = await startFaultyServer({ deletes: [{ status }] });
      t.after(() => server.stop());
      const host = await openHost(t, kind, server.url);
      await host.close();
      await pause(1_000);
      assert.equal(server.log.count({ method: 'DELETE' }), 1);
    });
  }

  everyWay('refused for good is given up after three more tries, without an error', async (t, kind) => {
    verifies('ending/unconfirmed-is-tried-again');
    const deletes = Array.from({ length: 9 }, () => ({ status: 500, retryAfter: '0' }));
    const server = await startFaultyServer({ deletes });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.close();
    await until('four tries', () => server.log.count({ method: 'DELETE' }) === 4, { timeoutMs: 30_000 });
    await pause(1_500);
    assert.equal(server.log.count({ method: 'DELETE' }), 4);
    server.expireAll();
  });
});
