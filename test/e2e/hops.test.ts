import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { until } from '../support/until.js';
import { codeOf, everyWay, openHost } from '../support/ways.js';

describe('cookies', () => {
  everyWay('set on initialize stay with that session, on POST, GET and DELETE', async (t, kind) => {
    verifies('hops/cookies');
    const server = await startFaultyServer({ cookie: true });
    t.after(() => server.stop());
    const hosts = [await openHost(t, kind, server.url), await openHost(t, kind, server.url)];
    for (const host of hosts) await host.call('count', { key: 'a' });
    await until('two streams', () => server.log.count({ method: 'GET', status: 200 }) === 2);
    server.expireAll();
    for (const host of hosts) await host.call('count', { key: 'b' });
    for (const host of hosts) await host.close();
    assert.equal(server.log.count({ status: 421 }), 0, "the cookie was missing or another session's");
    for (const { headers } of server.log.select({ rpc: 'initialize' }))
      assert.equal(headers.cookie, undefined);
    await assertAllEnded(server);
  });
});

describe('redirects', () => {
  for (const status of [307, 308] as const) {
    everyWay(
      `${status} within the origin is followed with method and body, and remembered`,
      async (t, kind) => {
        verifies('hops/redirect-same-origin');
        const server = await startFaultyServer({ redirect: { status, to: '/moved' } });
        t.after(() => server.stop());
        const host = await openHost(t, kind, server.url);
        for (const key of ['a', 'b']) assert.equal(await host.call('count', { key }), `counted ${key}`);
        await host.close();
        assert.equal(server.log.entries.filter(({ path }) => path === '/mcp').length, 1, 'remembered');
        assert.equal(server.log.select({ method: 'DELETE' })[0]?.path, '/moved');
        assert.deepEqual(server.tools.twice(), []);
        await assertAllEnded(server);
      },
    );
  }

  everyWay('to another origin is refused, and nothing is sent there', async (t, kind) => {
    verifies('hops/redirect-other-origin');
    const other = await startFaultyServer();
    t.after(() => other.stop());
    const server = await startFaultyServer({ redirect: { status: 307, to: other.url } });
    t.after(() => server.stop());
    const bounds = { headers: { authorization: 'Bearer secret' } };
    assert.equal(await codeOf(openHost(t, kind, server.url, { bounds })), 'MOORING_REDIRECT_REFUSED');
    assert.equal(other.log.entries.length, 0);
  });
});

describe('spelling', () => {
  everyWay('of headers does not matter', async (t, kind) => {
    verifies('hops/header-spelling');
    const server = await startFaultyServer({
      sessionHeader: 'mCP-sESSION-iD',
      jsonType: 'Application/JSON; Charset=UTF-8',
      answer: 'json',
    });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    assert.equal(await host.call('count', { key: 'a' }), 'counted a');
    await host.close();
    await assertAllEnded(server);
  });
});
