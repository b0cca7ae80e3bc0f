import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { pause, until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

describe('what a server says on and about its listening stream', { concurrency: 8 }, () => {
  everyWay('a server that pings on it keeps it while the session lives', async (t, kind) => {
    verifies('listen/pinging-server-keeps-it');
    const server = await startFaultyServer({ pingEveryMs: 100 });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { streamIdleMs: 1_000 } });
    await host.call('count', { key: 'a' });
    const [get] = await until('a stream', () => {
      const gets = server.log.select({ method: 'GET', status: 200 });
      return gets.length > 0 && gets;
    });
    await pause(2_500);
    assert.equal(get?.durationMs, undefined, 'the stream is still open');
    assert.equal(server.log.count({ method: 'GET' }), 1);
    const answers = server.log.select({ rpc: 'response' });
    assert.ok(answers.length >= 5 && answers.every(({ status }) => status === 202));
    assert.deepEqual(server.strays.length, answers.length, 'answered by id');
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('retry: is honoured', async (t, kind) => {
    verifies('listen/retry-honoured');
    const server = await startFaultyServer({ get: { kind: 'stream', endAfterMs: 50, retryMs: 3_000 } });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    await until('two GETs', () => server.log.count({ method: 'GET' }) === 2, { timeoutMs: 8_000 });
    const [first, second] = server.log.select({ method: 'GET' });
    assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 2_950);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('event ids are sent back after a break, and never to another session', async (t, kind) => {
    verifies('listen/last-event-id');
    const server = await startFaultyServer({ get: { kind: 'stream', endAfterMs: 400 } });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    const gets = () => server.log.select({ method: 'GET', status: 200 });
    await until('a stream', () => gets().length === 1);
    await server.notify('notifications/tools/list_changed', { id: 'event-7' });
    await until('another stream', () => gets().length === 2);
    assert.equal(gets()[1]?.headers['last-event-id'], 'event-7');
    server.expireAll();
    await host.call('count', { key: 'b' });
    const [, young] = server.log.issued();
    await until('a stream of the new session', () => gets().some(({ sid }) => sid === young));
    assert.equal(gets().find(({ sid }) => sid === young)?.headers['last-event-id'], undefined);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('a 404 after one had worked is decided by one ping', async (t, kind) => {
    verifies('listen/suspect-404');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    await until('a stream', () => server.log.count({ method: 'GET', status: 200 }) === 1);
    await server.notify('notifications/tools/list_changed');
    server.faults.get = { kind: 'status', status: 404 };
    // Ends the stream, and not the session.
    server.endStreams();
    await until('a ping', () => server.log.count({ rpc: 'ping' }) === 1);
    await pause(300);
    assert.equal(server.log.count({ method: 'GET', status: 404 }), 1);
    assert.equal(server.log.count({ rpc: 'ping' }), 1);
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.count({ method: 'GET' }), 2);
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });
});
