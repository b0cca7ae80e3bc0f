import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createTransport } from 'mooring/client';
import {
  type AnyClient,
  bareTransport,
  callTool,
  connect,
  MAJORS,
  type Major,
  newClient,
} from '../../support/clients.js';
import { pause, until } from '../../support/until.js';
import { type PhpPool, startPhpPool } from './pool.js';

/** The second public report: a pool of workers, and more hosts that are configured than it has. */
const WORKERS = 8;
const HOSTS = 20;
/** The report's streams last 180 s, and its proxy waits 60 s. */
const STREAM_S = Number(process.env.MOORING_PHP_STREAM_S ?? 20);
const GATEWAY_S = Math.min(60, STREAM_S / 2);
const STREAM_IDLE_MS = 1_000;
/**
 * PHP sees that a client has gone by its second write to it, a second apart; and GETs that waited for a worker when
 * their client went are begun all the same. Well below the time that a stream lasts.
 */
const NOTICED_MS = 12_000;

const start = (t: TestContext): Promise<PhpPool> =>
  startPhpPool(t, { workers: WORKERS, streamSeconds: STREAM_S, gatewaySeconds: GATEWAY_S });

/** Hosts that each open a session, one after another, and then have nothing to do. */
async function configure(
  t: TestContext,
  major: Major,
  transport: () => Parameters<typeof connect>[1],
): Promise<{ clients: AnyClient[]; failed: number }> {
  const clients: AnyClient[] = [];
  let failed = 0;
  for (let n = 0; n < HOSTS; n++) {
    const client = newClient(major);
    t.after(() => client.close());
    try {
      await connect(client, transport());
      clients.push(client);
    } catch {
      failed += 1;
    }
    // Enough: every further one waits for the proxy's timeout.
    if (failed === 2) break;
  }
  return { clients, failed };
}

describe(`PHP-FPM, ${WORKERS} workers behind nginx, streams of ${STREAM_S} s`, { concurrency: 4 }, () => {
  for (const major of MAJORS) {
    it(`hosts on the bare SDK v${major}, configured and idle, run it dry`, async (t) => {
      const pool = await start(t);
      const { clients } = await configure(t, major, () => bareTransport(major, pool.url));
      await until('the pool to be held', async () => (await pool.busy()) === WORKERS, { timeoutMs: 15_000 });
      assert.ok(clients.length < HOSTS, 'all of them got in');
      const [first] = clients;
      assert.ok(first !== undefined);
      const began = performance.now();
      const answer = await callTool(first, 'count', { key: 'dry' }, { timeout: GATEWAY_S * 2_000 }).then(
        () => 'answered',
        (error: Error) => error.message,
      );
      const took = performance.now() - began;
      // A worker is free when a stream has lasted its whole time, or nginx gives up first.
      assert.ok(/50[234]/.test(answer) || took > 1_000, `${answer} after ${Math.round(took)} ms`);
    });

    it(`hosts with Mooring on the SDK v${major} hold none, and every call answers`, async (t) => {
      const pool = await start(t);
      const { clients, failed } = await configure(t, major, () =>
        createTransport(pool.url, { streamIdleMs: STREAM_IDLE_MS }),
      );
      assert.deepEqual([clients.length, failed], [HOSTS, 0]);
      const keys = clients.map((_, n) => `k${n}`);
      await Promise.all(clients.map((client, n) => callTool(client, 'count', { key: keys[n] })));
      const since = performance.now();
      await until('no worker to be held', async () => (await pool.busy()) === 0, {
        timeoutMs: STREAM_IDLE_MS + NOTICED_MS,
      });
      t.diagnostic(`no worker is held ${Math.round(performance.now() - since)} ms after the last answer`);
      await pause(2_000);
      assert.equal(await pool.busy(), 0);
      assert.equal(pool.sessions(), HOSTS);
      await Promise.all(clients.map((client, n) => callTool(client, 'count', { key: `again-${keys[n]}` })));
      for (const key of keys)
        assert.deepEqual([pool.count(`ran ${key}`), pool.count(`ran again-${key}`)], [1, 1]);
      await Promise.all(clients.map((client) => client.close()));
      assert.equal(pool.sessions(), 0);
      assert.equal(pool.count('DELETE'), HOSTS);
    });
  }
});
