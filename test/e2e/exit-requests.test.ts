import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { TestContext } from 'node:test';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import type { HostChild } from '../support/child.js';
import type { Major } from '../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import type { Faults } from '../support/faulty/faults.js';
import { startFaultyServer } from '../support/faulty-server.js';
import type { FaultyServer } from '../support/faulty-server.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { everyWay, WITH_CREDENTIALS } from '../support/ways.js';
import type { Way } from '../support/ways.js';

async function start(
  t: TestContext,
  { way, major }: { way: Way; major: Major },
  file: string,
  faults: Partial<Faults>,
  env: Record<string, string> = {},
): Promise<{ server: FaultyServer; host: HostChild }> {
  const server = await startFaultyServer(faults);
  const host = spawnHost(file, { args: [server.url, String(major), way], env });
  t.after(async () => {
    await host.stop();
    await server.stop();
  });
  return { server, host };
}

describe('the DELETEs of an exit', { concurrency: 2 }, () => {
  for (const file of ['natural-end.mjs', 'process-exit.mjs']) {
    everyWay(`carry the cookies of their sessions (${file})`, async (t, kind) => {
      verifies('process-end/latest-headers');
      const { server, host } = await start(t, kind, file, { cookie: true });
      await host.ended;
      assert.equal(server.log.count({ status: 421 }), 0, 'a cookie is missing');
      await assertAllEnded(server);
      assert.equal(confirmedDeletes(server), 3);
    });

    everyWay(`go where a redirect pointed (${file})`, async (t, kind) => {
      verifies('process-end/latest-headers');
      const { server, host } = await start(t, kind, file, { redirect: { status: 307, to: '/moved' } });
      await host.ended;
      await assertAllEnded(server);
      assert.equal(confirmedDeletes(server), 3);
    });
  }

  for (const how of ['exit', 'throw']) {
    everyWay(
      `carry the latest credentials (process.${how})`,
      async (t, kind) => {
        verifies('process-end/latest-headers');
        const env = { END_BY: how };
        const { server, host } = await start(t, kind, 'rotating-token.mjs', { token: 'T1' }, env);
        await host.event('ready');
        server.faults.token = 'T2';
        host.tell('end');
        const end = await host.ended;
        assert.equal(end.code, how === 'exit' ? 7 : 1);
        await assertAllEnded(server);
        assert.equal(confirmedDeletes(server), 3);
      },
      { ways: WITH_CREDENTIALS },
    );
  }

  for (const file of ['natural-end.mjs', 'process-exit.mjs']) {
    everyWay(`go through the proxy of the environment (${file})`, async (t, kind) => {
      verifies('process-end/proxy');
      const proxy = await startProxy();
      t.after(() => proxy.stop());
      const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: '', no_proxy: '' };
      const { server, host } = await start(t, kind, file, {}, env);
      await host.event('ending');
      assert.ok(proxy.used > 0);
      // From here on there is no other way in than the proxy: what it does not bring is not there.
      await host.ended;
      await assertAllEnded(server);
      assert.equal(confirmedDeletes(server), 3);
      for (const { headers } of server.log.entries) assert.ok(headers.host);
    });

    everyWay(`do not where NO_PROXY says so (${file})`, async (t, kind) => {
      verifies('process-end/proxy');
      const proxy = await startProxy();
      t.after(() => proxy.stop());
      const env = {
        HTTP_PROXY: proxy.url,
        http_proxy: proxy.url,
        NO_PROXY: '127.0.0.1',
        no_proxy: '127.0.0.1',
      };
      const { server, host } = await start(t, kind, file, {}, env);
      await host.ended;
      await assertAllEnded(server);
      assert.equal(confirmedDeletes(server), 3);
      assert.equal(proxy.used, 0);
    });
  }
});

describe('a host that ends in the middle of something', { concurrency: 2 }, () => {
  everyWay('lives until the answer to its last call has come', async (t, kind) => {
    verifies('process-end/in-flight-keeps-alive');
    const { server, host } = await start(t, kind, 'in-flight.mjs', {});
    await host.event('ending');
    await host.event('answered');
    assert.equal((await host.ended).code, 0);
    assert.equal(server.tools.runs('last'), 1);
    await assertAllEnded(server);
    assert.equal(confirmedDeletes(server), 3);
  });

  everyWay('by a signal during initialize leaves no orphan, and ends by that signal', async (t, kind) => {
    verifies('process-end/opening');
    const { server, host } = await start(t, kind, 'opening.mjs', { initializeDelayMs: 700 });
    await host.event('ready');
    await until('initialize', () => server.log.count({ rpc: 'initialize' }) > 0);
    host.kill('SIGTERM');
    const end = await host.ended;
    assert.ok(end.afterMs < 3_000);
    await until('the session', () => server.peakSessions > 0);
    await assertAllEnded(server);
    assert.equal(end.signal, 'SIGTERM', host.stderr);
  });

  everyWay('by a signal during a call ends by that signal too', async (t, kind) => {
    verifies('process-end/busy');
    const { server, host } = await start(t, kind, 'busy.mjs', {});
    await host.event('ready');
    host.kill('SIGTERM');
    const end = await host.ended;
    assert.ok(end.afterMs < 3_000);
    await assertAllEnded(server);
    assert.equal(confirmedDeletes(server), 3);
    assert.equal(end.signal, 'SIGTERM', host.stderr);
  });
});
