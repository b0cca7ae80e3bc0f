import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createFetch, type FetchOptions, type MooringFetch } from 'mooring/client';
import { verifies } from '../requirements.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { type FaultyServer, startFaultyServer } from '../support/faulty-server.js';
import { initializeBody, openRaw, postInitialize, readAnswer } from '../support/raw-library.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';

async function start(
  t: TestContext,
  {
    faults = {},
    options = {},
  }: { faults?: Parameters<typeof startFaultyServer>[0]; options?: FetchOptions } = {},
): Promise<{ server: FaultyServer; fetch: MooringFetch }> {
  const server = await startFaultyServer(faults);
  const fetch = createFetch(options);
  t.after(async () => {
    await fetch.close();
    await server.stop();
  });
  return { server, fetch };
}

const codeIn = (answer: Record<string, unknown>): unknown =>
  (answer.error as { data?: { code?: unknown } } | undefined)?.data?.code;

describe('the end of a session, through createFetch', { concurrency: 4 }, () => {
  it('is the library letting go of its stream for good', async (t) => {
    verifies('fetch/left-is-closed');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    const leave = new AbortController();
    const stream = await session.get(leave.signal);
    assert.equal(stream.status, 200);
    await session.call('count', { key: 'a' });
    leave.abort();
    await assert.rejects(stream.text(), { name: 'AbortError' });
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
    await assertAllEnded(server, 4_000);
    assert.equal(confirmedDeletes(server), 1);
  });

  it('is not a stream that the library asks for again at once', async (t) => {
    verifies('fetch/left-is-closed');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    const first = new AbortController();
    await session.get(first.signal);
    await session.call('count', { key: 'a' });
    first.abort();
    await pause(500);
    await session.get();
    await pause(2_500);
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
    assert.ok((await session.call('count', { key: 'b' })).result);
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
  });

  it('that came too early costs a new session, and no call', async (t) => {
    verifies('fetch/left-is-closed');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    const leave = new AbortController();
    await session.get(leave.signal);
    leave.abort();
    await until('the DELETE', () => confirmedDeletes(server) === 1, { timeoutMs: 4_000 });
    assert.ok((await session.call('count', { key: 'a' })).result);
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
    assert.equal(server.tools.runs('a'), 1);
  });

  it('waits for what is in flight', async (t) => {
    verifies('fetch/left-is-closed');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    const leave = new AbortController();
    await session.get(leave.signal);
    const slow = session.call('slow', { key: 'a', ms: 3_000 });
    leave.abort();
    await pause(2_500);
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
    assert.ok((await slow).result);
    await assertAllEnded(server, 3_000);
  });

  const DELETES = [
    ['200', { status: 200 }, 200],
    ['204', { status: 204 }, 204],
    ['405', { status: 405 }, 405],
    ['404, which is gone all the same', { status: 404 }, 204],
    ['503, which is tried again behind it', { status: 503 }, 204],
    ['nothing', 'hang', 204],
  ] as const;
  for (const [name, answer, expected] of DELETES) {
    it(`is the library's own DELETE, which the server answers with ${name}`, async (t) => {
      verifies('fetch/own-delete');
      const { server, fetch } = await start(t, { faults: { deletes: [answer] } });
      const session = await openRaw(fetch, server.url);
      const started = performance.now();
      assert.equal((await session.remove()).status, expected);
      assert.ok(performance.now() - started < 2_500);
      assert.equal(server.log.count({ method: 'DELETE' }), 1);
      const after = await session.post({ jsonrpc: '2.0', id: 9, method: 'tools/list' });
      if (answer !== 'hang' && answer.status < 300) assert.equal(after.status, 404);
    });
  }

  it('is an abort in the middle of initialize: nothing is left', async (t) => {
    verifies('fetch/aborted-initialize');
    const { server, fetch } = await start(t, { faults: { initializeDelayMs: 400 } });
    const abort = new AbortController();
    const opening = postInitialize(fetch, server.url, { signal: abort.signal });
    await pause(100);
    abort.abort();
    await assert.rejects(opening, { name: 'AbortError' });
    await until('the orphan to be ended', () => confirmedDeletes(server) === 1);
    await assertAllEnded(server);
  });

  it('is close(), after which nothing is opened', async (t) => {
    verifies('fetch/closed');
    const { server, fetch } = await start(t);
    await openRaw(fetch, server.url);
    await openRaw(fetch, server.url);
    await fetch.close();
    assert.equal(confirmedDeletes(server), 2);
    await assertAllEnded(server);
    const answer = await readAnswer(await postInitialize(fetch, server.url), 0);
    assert.equal(codeIn(answer), 'MOORING_CLOSED');
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
  });
});

describe('what a library sees through createFetch', { concurrency: 4 }, () => {
  it('is one id for good, whatever the server issues later', async (t) => {
    verifies('fetch/one-id');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    assert.equal(session.id, server.log.issued()[0]);
    server.expireAll();
    assert.ok((await session.call('count', { key: 'a' })).result);
    const again = await session.post({ jsonrpc: '2.0', id: 7, method: 'tools/list' });
    assert.equal(again.headers.get('mcp-session-id'), session.id);
    assert.equal(again.url, server.url);
    assert.equal(server.log.issued().length, 2);
  });

  it('is an error of ours as a JSON-RPC error for exactly the posted id', async (t) => {
    verifies('fetch/errors-in-json-rpc');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    server.faults.calls = [{ kind: 'destroy' }];
    const lost = await session.call('count', { key: 'a' }, 'a string');
    assert.equal(lost.id, 'a string');
    assert.equal(codeIn(lost), 'MOORING_OUTCOME_UNKNOWN');
    await server.stop();
    const away = await readAnswer(await postInitialize(fetch, server.url), 0);
    assert.equal(codeIn(away), 'MOORING_OPEN_FAILED');
  });

  it('is a 401 with its challenge, so that it can sign in', async (t) => {
    verifies('fetch/status-is-the-libraries');
    const { server, fetch } = await start(t, { faults: { token: 'T1' } });
    const refused = await postInitialize(fetch, server.url);
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get('www-authenticate') ?? '', /^Bearer/);
    const session = await openRaw(fetch, server.url, { authorization: 'Bearer T1' });
    server.faults.token = 'T2';
    const stale = await session.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    assert.equal(stale.status, 401);
    server.faults.token = 'T1';
    assert.ok((await session.call('count', { key: 'a' })).result);
    assert.equal(server.log.count({ rpc: 'initialize', status: 200 }), 1);
  });

  it('is the status of an initialize that the server refuses, so that it can try an older transport', async (t) => {
    verifies('fetch/status-is-the-libraries');
    const { fetch, server } = await start(t, { faults: { initializes: [{ status: 405 }] } });
    assert.equal((await postInitialize(fetch, server.url)).status, 405);
  });

  it('is one array for a batch', async (t) => {
    verifies('fetch/batch');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    const call = (id: number, key: string): unknown => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'count', arguments: { key } },
    });
    const response = await session.post([call(1, 'a'), call(2, 'b')]);
    const answers = (await response.json()) as { id: number; result: unknown }[];
    assert.deepEqual(new Set(answers.map(({ id }) => id)), new Set([1, 2]));
    assert.ok(answers.every(({ result }) => result !== undefined));
  });

  it('is the same for a Request, for bytes, and for headers in pairs', async (t) => {
    verifies('fetch/every-shape');
    const { server, fetch } = await start(t);
    const headers: [string, string][] = [
      ['Accept', 'application/json, text/event-stream'],
      ['Content-Type', 'application/json; charset=utf-8'],
    ];
    const body = initializeBody();
    const shapes = [
      () => fetch(new Request(server.url, { method: 'POST', headers, body })),
      () => fetch(new URL(server.url), { method: 'post', headers, body: new TextEncoder().encode(body) }),
      () => fetch(server.url, { method: 'POST', headers: new Headers(headers), body: new Blob([body]) }),
    ];
    for (const shape of shapes) assert.equal((await shape()).status, 200);
    await fetch.close();
    assert.equal(confirmedDeletes(server), 3);
    await assertAllEnded(server);
  });
});

describe('bounds through createFetch', { concurrency: 4 }, () => {
  it('hold for a library that opens more than may be open: the idle ones sleep, and wake', async (t) => {
    verifies('fetch/bounded');
    const { server, fetch } = await start(t, { options: { maxSessions: 2 } });
    const sessions = [];
    for (let n = 0; n < 6; n += 1) sessions.push(await openRaw(fetch, server.url));
    for (const round of ['a', 'b']) {
      for (const [n, session] of sessions.entries()) {
        assert.ok((await session.call('count', { key: `${round}${n}` })).result);
      }
    }
    assert.equal(server.peakSessions, 2);
    assert.deepEqual(server.tools.twice(), []);
    await fetch.close();
    await assertAllEnded(server);
  });

  it('end what is idle, and the next call opens another', async (t) => {
    verifies('fetch/bounded');
    const { server, fetch } = await start(t, { options: { idleMs: 200 } });
    const session = await openRaw(fetch, server.url);
    await session.call('count', { key: 'a' });
    await until('the idle one to be ended', () => server.sessions === 0);
    assert.ok((await session.call('count', { key: 'b' })).result);
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
  });

  it('cost the server no stream for a library that never asked for one', async (t) => {
    verifies('fetch/stream-is-held-here');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    await session.call('count', { key: 'a' });
    await pause(200);
    assert.equal(server.log.count({ method: 'GET' }), 0);
  });

  it('cost it one stream at most for a library that asks again and again', async (t) => {
    verifies('fetch/stream-is-held-here');
    const { server, fetch } = await start(t);
    const session = await openRaw(fetch, server.url);
    for (let n = 0; n < 5; n += 1) assert.equal((await session.get()).status, 200);
    await session.call('count', { key: 'a' });
    await until('a stream', () => server.log.count({ method: 'GET' }) === 1);
    await pause(200);
    assert.equal(server.log.count({ method: 'GET' }), 1);
  });
});

describe('what is not ours, through createFetch', { concurrency: 4 }, () => {
  it('is a server without ids: one initialize, no GET, no DELETE', async (t) => {
    verifies('fetch/no-id');
    const { server, fetch } = await start(t, { faults: { stateless: true } });
    const session = await openRaw(fetch, server.url);
    assert.equal(session.id, undefined);
    assert.equal((await session.get()).status, 200);
    for (const key of ['a', 'b', 'c']) assert.ok((await session.call('count', { key })).result);
    await fetch.close();
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    assert.equal(server.log.count({ method: 'GET' }), 0);
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
  });

  it('is the revision of 2026-07-28', async (t) => {
    verifies('fetch/not-mcp');
    const server = await startSdkServer({ major: 2, era: '2026-07-28' });
    const fetch = createFetch();
    t.after(async () => {
      await fetch.close();
      await server.stop();
    });
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const client = new Client(
      { name: 'modern', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { fetch }));
    await client.callTool({ name: 'count', arguments: { key: 'a' } });
    await client.close();
    assert.equal(server.tools.runs('a'), 1);
    assert.equal(server.log.count({ rpc: 'initialize' }), 0);
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
  });

  it('is an id that another process opened: it goes to the server as it is', async (t) => {
    verifies('fetch/not-mcp');
    const { server, fetch } = await start(t);
    const other = createFetch();
    const session = await openRaw(other, server.url);
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-session-id': session.id ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    assert.equal(response.status, 200);
    await response.text();
    await other.close();
    await assertAllEnded(server);
  });
});
