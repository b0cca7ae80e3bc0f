import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { bareTransport, callTool, connect, MAJORS, newClient } from './clients.js';
import type { Faults } from './faulty/faults.js';
import { startFaultyServer } from './faulty-server.js';
import type { FaultyServer } from './faulty-server.js';
import { until } from './until.js';

async function start(t: TestContext, faults: Partial<Faults> = {}): Promise<FaultyServer> {
  const server = await startFaultyServer(faults);
  t.after(() => server.stop());
  return server;
}

async function post(server: FaultyServer, message: object, headers: Record<string, string> = {}) {
  const signal = AbortSignal.timeout(5_000);
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return fetch(server.url, {
    method: 'POST',
    headers: { ...type, ...headers },
    body,
    signal,
    redirect: 'manual',
  });
}

async function open(server: FaultyServer): Promise<Record<string, string>> {
  const response = await post(server, {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18' },
  });
  await response.text();
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
  return { 'mcp-session-id': String(response.headers.get('mcp-session-id')), ...(cookie ? { cookie } : {}) };
}

const call = (key: string) => ({
  id: 2,
  method: 'tools/call',
  params: { name: 'count', arguments: { key } },
});

for (const major of MAJORS) {
  for (const answer of ['json', 'sse'] as const) {
    it(`without faults serves the bare SDK v${major} with ${answer} answers`, async (t) => {
      const server = await start(t, { answer });
      const client = newClient(major, { onElicit: async () => 'yes' });
      await connect(client, bareTransport(major, server.url));
      assert.equal(await callTool(client, 'count', { key: 'a' }), 'counted a');
      await until('a listening stream', () => server.log.count({ method: 'GET', status: 200 }) === 1);
      assert.match(await callTool(client, 'elicit', { key: 'q' }), /yes/);
      assert.match(await callTool(client, 'elicit', { key: 'q', via: 'stream' }), /yes/);
      assert.equal((await client.listTools()).tools.length, 5);
      assert.deepEqual(server.strays, []);
      await client.close();
    });
  }

  for (const newline of ['\n', '\r\n'] as const) {
    it(`event streams cut at each byte with ${JSON.stringify(newline)} are readable by SDK v${major}`, async (t) => {
      const sse = { newline, multiline: true, cutBytes: 1, comments: true };
      const server = await start(t, { sse });
      const client = newClient(major);
      await connect(client, bareTransport(major, server.url));
      assert.equal(await callTool(client, 'echo', { text: 'größer \u{1f30a}' }), 'größer \u{1f30a}');
      await client.close();
    });
  }
}

describe('the faults of the faulty server', () => {
  it('listening streams: ended, refused, empty, silent', async (t) => {
    const server = await start(t, { get: { kind: 'stream', endAfterMs: 30, retryMs: 5 } });
    const headers = await open(server);
    const get = () => fetch(server.url, { headers, signal: AbortSignal.timeout(300) });
    assert.match(await (await get()).text(), /retry: 5/);
    server.faults.get = { kind: 'status', status: 200, contentType: 'text/plain', body: 'hello' };
    assert.equal((await get()).headers.get('content-type'), 'text/plain');
    server.faults.get = { kind: 'status', status: 405 };
    assert.equal((await get()).status, 405);
    server.faults.get = { kind: 'eof' };
    assert.equal(await (await get()).text(), '');
    server.faults.get = { kind: 'silent' };
    await assert.rejects(get());
  });

  it('DELETE: in turn, and never', async (t) => {
    const server = await start(t, { deletes: [{ status: 503 }, { status: 429, retryAfter: '1' }, 'hang'] });
    const headers = await open(server);
    const del = () => fetch(server.url, { method: 'DELETE', headers, signal: AbortSignal.timeout(200) });
    assert.equal((await del()).status, 503);
    assert.equal((await del()).headers.get('retry-after'), '1');
    await assert.rejects(del());
    assert.equal(server.sessions, 1);
    assert.equal((await del()).status, 200);
    assert.equal(server.sessions, 0);
  });

  it('calls: destroyed after the tool ran; cut, and resumed', async (t) => {
    const server = await start(t, { calls: [{ kind: 'destroy' }, { kind: 'cut', ids: true }] });
    const headers = await open(server);
    await assert.rejects(post(server, call('a'), headers));
    assert.equal(server.tools.runs('a'), 1);
    const cut = await post(server, call('b'), headers);
    let text = '';
    await assert.rejects(async () => {
      for await (const chunk of cut.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
    });
    const id = /id: (.*)\n/.exec(text)?.[1] as string;
    const resumed = await fetch(server.url, { headers: { ...headers, 'last-event-id': id } });
    assert.match(await resumed.text(), /counted b/);
    assert.equal(server.tools.runs('b'), 1);
  });

  it('gates: token, redirect, cookie, Retry-After', async (t) => {
    const server = await start(t, {
      token: 'T',
      cookie: true,
      initializes: [{ status: 503, retryAfter: '1' }],
    });
    assert.match(
      String((await post(server, { id: 1, method: 'initialize' })).headers.get('www-authenticate')),
      /Bearer/,
    );
    server.faults.token = undefined;
    assert.equal((await post(server, { id: 1, method: 'initialize' })).status, 503);
    const { cookie, ...headers } = await open(server);
    assert.equal((await post(server, call('a'), headers)).status, 421);
    assert.equal((await post(server, call('a'), { ...headers, cookie: String(cookie) })).status, 200);
    server.faults.redirect = { status: 307, to: '/moved' };
    const moved = await post(server, call('b'), headers);
    assert.equal(moved.status, 307);
    assert.equal(moved.headers.get('location'), '/moved');
  });

  it('tables: evicting the oldest, without affinity', async (t) => {
    const server = await start(t, { capacity: 1 });
    const first = await open(server);
    const second = await open(server);
    assert.equal((await post(server, call('a'), first)).status, 404);
    assert.equal((await post(server, call('b'), second)).status, 200);
    server.faults.affinity = false;
    const third = await open(server);
    const statuses = [];
    for (const key of ['c', 'd', 'e', 'f']) statuses.push((await post(server, call(key), third)).status);
    assert.deepEqual(statuses, [404, 200, 404, 200]);
    assert.equal(server.peakSessions, 1);
  });

  it('one worker: a POST waits while a GET holds it', async (t) => {
    const server = await start(t, { workers: 1 });
    const headers = await open(server);
    const get = request(server.url, { headers }).on('error', () => {});
    get.end();
    await until('the GET holds the worker', () => server.busyWorkers === 1);
    let answered = false;
    const waiting = post(server, call('a'), headers).then((response) => {
      answered = true;
      return response.status;
    });
    await assert.rejects(until('an answer', () => answered, { timeoutMs: 150 }));
    get.destroy();
    assert.equal(await waiting, 200);
  });
});
