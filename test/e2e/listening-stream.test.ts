import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../requirements.js';
import { bareTransport, connect, MAJORS, newClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import type { GetFault } from '../support/faulty/faults.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

describe('a server that ends the stream every 2 s', { concurrency: true }, () => {
  everyWay('is asked at most 4 times in 20 s, and not in the last 10 s without work', async (t, kind) => {
    verifies('listen/ended-stream-backs-off');
    const server = await startFaultyServer({ get: { kind: 'stream', endAfterMs: 2_000 } });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    const worked = server.log.now();
    await pause(20_000);
    const gets = server.log.select({ method: 'GET' });
    assert.ok(gets.length <= 4, `${gets.length} GETs`);
    assert.ok(gets.length >= 1);
    const late = gets.filter(({ at }) => at > worked + 10_000);
    assert.equal(late.length, 0, 'asked again without work');
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    await host.close();
    await assertAllEnded(server);
  });

  for (const major of MAJORS) {
    it(`is asked about once a second by the bare SDK v${major}`, async (t) => {
      const server = await startFaultyServer({ get: { kind: 'stream', endAfterMs: 2_000 } });
      t.after(() => server.stop());
      const client = newClient(major);
      await connect(client, bareTransport(major, server.url));
      await pause(20_000);
      const gets = server.log.count({ method: 'GET' });
      assert.ok(gets > 4, `${gets} GETs`);
      await client.close();
    });
  }
});

describe('a stream that is not offered', { concurrency: 8 }, () => {
  const answers: readonly [string, GetFault][] = [
    ['200 text/plain', { kind: 'status', status: 200, contentType: 'text/plain', body: 'hello' }],
    ['405', { kind: 'status', status: 405 }],
    ['404', { kind: 'status', status: 404 }],
    ['406', { kind: 'status', status: 406 }],
    ['501', { kind: 'status', status: 501 }],
    ['400', { kind: 'status', status: 400 }],
  ];
  for (const [name, get] of answers) {
    everyWay(`answered ${name} is never asked for again, and calls answer`, async (t, kind) => {
      verifies('listen/not-offered');
      const server = await startFaultyServer({ get });
      t.after(() => server.stop());
      const host = await openHost(t, kind, server.url);
      await host.call('count', { key: 'a' });
      await until('one GET', () => server.log.count({ method: 'GET' }) === 1);
      await pause(150);
      for (const key of ['b', 'c']) await host.call('count', { key });
      await pause(150);
      assert.equal(server.log.count({ method: 'GET' }), 1);
      assert.equal(server.log.count({ rpc: 'initialize' }), 1);
      await host.close();
      await assertAllEnded(server);
    });
  }

  everyWay('with listen off is not asked for at all', async (t, kind) => {
    verifies('listen/off');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { listen: 'off' } });
    await host.call('count', { key: 'a' });
    await pause(200);
    assert.equal(server.log.count({ method: 'GET' }), 0);
    await host.close();
    await assertAllEnded(server);
  });
});

describe('a stream that misbehaves', { concurrency: 8 }, () => {
  everyWay('by a GET without headers holds up nothing', async (t, kind) => {
    verifies('listen/never-touches-calls');
    const server = await startFaultyServer({ get: { kind: 'silent' } });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const started = server.log.now();
    for (const key of ['a', 'b', 'c']) await host.call('count', { key });
    assert.ok(server.log.now() - started < 4_000, 'before any starvation rule could have helped');
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('by 200 and an end at once is backed off from, and never opens a session', async (t, kind) => {
    verifies('listen/ended-stream-backs-off');
    const server = await startFaultyServer({ get: { kind: 'eof' } });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    await pause(2_500);
    await host.call('count', { key: 'b' });
    assert.ok(server.log.count({ method: 'GET' }) <= 3);
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('by a 409 is asked for again later', async (t, kind) => {
    verifies('listen/conflict-backs-off');
    const server = await startFaultyServer({ get: { kind: 'status', status: 409 } });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'a' });
    await until('one GET', () => server.log.count({ method: 'GET' }) === 1);
    server.faults.get = { kind: 'stream' };
    await until('another GET', () => server.log.count({ method: 'GET', status: 200 }) === 1);
    const [first, second] = server.log.select({ method: 'GET' });
    assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 900, 'half of the first delay at least');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });
});

describe('a stream that works', { concurrency: 8 }, () => {
  everyWay('is open before a call of a client that can be asked', async (t, kind) => {
    verifies('listen/before-the-first-byte-of-a-call');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const client = { onElicit: async () => 'yes' };
    const host = await openHost(t, kind, server.url, { client });
    assert.equal(await host.call('elicit', { key: 'q', via: 'stream' }), 'yes');
    const [get] = server.log.select({ method: 'GET' });
    const [call] = server.log.select({ rpc: 'tools/call' });
    assert.ok(get && call && get.at < call.at);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('is let go some time after the last work, while the session lives on', async (t, kind) => {
    verifies('listen/active');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { streamIdleMs: 300 } });
    await host.call('count', { key: 'a' });
    const [get] = await until('a stream', () => {
      const gets = server.log.select({ method: 'GET', status: 200 });
      return gets.length > 0 && gets;
    });
    await until('its end', () => get?.durationMs !== undefined);
    assert.equal(server.sessions, 1);
    await pause(1_500);
    assert.equal(server.log.count({ method: 'GET' }), 1, 'not asked for again without work');
    await host.call('count', { key: 'b' });
    await until('a stream again', () => server.log.count({ method: 'GET', status: 200 }) === 2);
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('brings notifications', async (t, kind) => {
    verifies('listen/brings-notifications');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    let told = 0;
    await host.with(async (client) => {
      client.fallbackNotificationHandler = async ({ method }: { method: string }) => {
        if (method === 'notifications/tools/list_changed') told += 1;
      };
    });
    await host.call('count', { key: 'a' });
    await until('a stream', () => server.log.count({ method: 'GET', status: 200 }) === 1);
    await server.notify('notifications/tools/list_changed');
    await until('the notification', () => told === 1);
    await host.close();
    await assertAllEnded(server);
  });
});
