import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  causeCode,
  createFetchWire,
  type FetchInit,
  type FetchLike,
  type FetchResponse,
} from '../../src/client/fetch-wire.js';
import { BodyTooLargeError, readText, WireError, type WireRequest } from '../../src/client/wire.js';

const request = (rest: Partial<WireRequest> = {}): WireRequest => ({
  method: 'POST',
  url: new URL('http://127.0.0.1:1/mcp'),
  headers: new Map([['accept', 'application/json']]),
  signal: new AbortController().signal,
  lane: 'call',
  ...rest,
});

const failing =
  (error: unknown): FetchLike =>
  () =>
    Promise.reject(error as Error);
const withCode = (code: string, cause?: unknown): Error =>
  Object.assign(new Error(code, { cause }), { code });

test('the host sees one request as it is, and no redirect is followed behind our back', async () => {
  const seen: Array<[URL, FetchInit]> = [];
  const wire = createFetchWire(async (url, init) => {
    seen.push([url, init]);
    return new Response('hello', { status: 202, headers: { 'X-A': '1' } });
  });
  const { signal } = new AbortController();
  const response = await wire.send(request({ body: '{}', signal }));
  assert.deepEqual(seen[0]?.[1], {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: '{}',
    signal,
    redirect: 'manual',
    // By this the preload knows it for ours; a fetch ignores it.
  });
  assert.equal(response.status, 202);
  assert.deepEqual([response.header('x-a'), response.header('x-b')], ['1', undefined]);
  assert.equal(await readText(response), 'hello');
  await wire.send(request({ method: 'GET' }));
  assert.equal('body' in (seen[1]?.[1] ?? {}), false);
  wire.unref();
});

test('each Set-Cookie line comes through; a fetch that cannot tell them brings none', async () => {
  const headers = new Headers([
    ['set-cookie', 'a=1; Path=/'],
    ['set-cookie', 'b=2'],
  ]);
  const own = await createFetchWire(async () => new Response(null, { headers })).send(request());
  assert.deepEqual(own.setCookie, ['a=1; Path=/', 'b=2']);
  const old: FetchResponse = { status: 200, headers: { get: () => null }, body: null };
  const response = await createFetchWire(async () => old).send(request());
  assert.deepEqual(response.setCookie, []);
  assert.equal(await readText(response), '', 'no body at all');
  response.discard();
});

test('a connection that was never made is told from one that was lost', async () => {
  const never = [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ];
  const written = async (error: unknown): Promise<boolean> => {
    const lost = await createFetchWire(failing(error))
      .send(request())
      .catch((reason: unknown) => reason);
    assert.ok(lost instanceof WireError);
    assert.equal(lost.cause, error);
    return lost.written;
  };
  for (const code of never) {
    assert.equal(await written(withCode(code)), false, code);
    assert.equal(await written(new TypeError('fetch failed', { cause: withCode(code) })), false, code);
  }
  const several = new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]);
  assert.equal(await written(new TypeError('fetch failed', { cause: several })), false);
  for (const error of [withCode('ECONNRESET'), withCode('UND_ERR_SOCKET'), new Error('x'), 'x', undefined]) {
    assert.equal(await written(error), true, String(error));
  }
});

test('the code of the innermost cause that has one; a circle of causes ends', () => {
  const circle = new Error('a');
  circle.cause = circle;
  assert.equal(causeCode(circle), undefined);
  assert.equal(causeCode(new Error('a', { cause: new Error('b', { cause: withCode('X') }) })), 'X');
  assert.equal(causeCode(undefined), undefined);
});

test('a fetch that throws before it returns a promise is a failure like any other', async () => {
  const wire = createFetchWire(() => {
    throw withCode('ECONNREFUSED');
  });
  await assert.rejects(wire.send(request()), (error) => error instanceof WireError && !error.written);
});

test('what the signal ends, ends with its reason, whatever the host throws', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  controller.abort(reason);
  const wire = createFetchWire(failing(new Error('aborted by fetch')));
  await assert.rejects(wire.send(request({ signal: controller.signal })), (error) => error === reason);
});

/** A body that the test writes; `cancelled` when it was let go. */
function body(): {
  response: Response;
  write(text: string): void;
  fail(error: Error): void;
  readonly cancelled: boolean;
} {
  let cancelled = false;
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      source = controller;
    },
    cancel: () => {
      cancelled = true;
    },
  });
  return {
    response: new Response(stream),
    write: (text) => source?.enqueue(Buffer.from(text)),
    fail: (error) => source?.error(error),
    get cancelled() {
      return cancelled;
    },
  };
}

test('a body that breaks off is a loss; one that our signal ended is not', async () => {
  const controller = new AbortController();
  for (const aborted of [false, true]) {
    const at = body();
    const response = await createFetchWire(async () => at.response).send(
      request({ signal: controller.signal }),
    );
    at.write('half');
    const text = readText(response);
    if (aborted) controller.abort(new Error('enough'));
    at.fail(new Error('terminated'));
    await assert.rejects(text, (error) =>
      aborted ? /enough/.test(String(error)) : error instanceof WireError && error.written,
    );
  }
});

test('a body that nobody will read is let go', async () => {
  const at = body();
  const response = await createFetchWire(async () => at.response).send(request());
  response.discard();
  assert.equal(at.cancelled, true);
  response.discard();
});

test('a body is let go also while it is being read', async () => {
  const at = body();
  const response = await createFetchWire(async () => at.response).send(request());
  at.write('first');
  let over = false;
  const reading = (async () => {
    for await (const chunk of response.chunks()) assert.equal(Buffer.from(chunk).toString(), 'first');
  })()
    .catch(() => {})
    .finally(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  response.discard();
  await new Promise((resolve) => setImmediate(resolve));
  const { cancelled } = at;
  if (!cancelled) at.fail(new Error('the test ends it'));
  await reading;
  assert.deepEqual([cancelled, over], [true, true], 'a stream that stays open after its response must go');
});

test('a reader that stops early lets the rest go', async () => {
  const at = body();
  const response = await createFetchWire(async () => at.response).send(request());
  at.write('0123456789');
  assert.equal(await readText(response, { cut: 4 }), '0123456789', 'cut at the chunk that reaches it');
  assert.equal(at.cancelled, true);
});

test('a body without an end is not held in one piece for ever', async () => {
  const big = new Uint8Array(0);
  Object.defineProperty(big, 'byteLength', { value: 256 * 1024 * 1024 });
  const endless: FetchResponse = {
    status: 200,
    headers: { get: () => null },
    body: {
      getReader: () => ({
        read: () => Promise.resolve({ done: false, value: big }),
        cancel: () => Promise.resolve(),
      }),
      cancel: () => Promise.resolve(),
    },
  };
  const response = await createFetchWire(async () => endless).send(request());
  await assert.rejects(readText(response), BodyTooLargeError);
});

test("the same over Node's own fetch and a real server: status, headers, a redirect left alone, a dead port", async () => {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/moved') outgoing.writeHead(307, { location: '/mcp' }).end();
    else {
      outgoing.setHeader('set-cookie', ['a=1', 'b=2']);
      outgoing.end(`${incoming.method} ${incoming.headers.accept}`);
    }
  });
  const dead = createServer();
  for (const one of [server, dead]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  const deadPort = (dead.address() as AddressInfo).port;
  await new Promise((resolve) => dead.close(resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const wire = createFetchWire(fetch as FetchLike);
  try {
    const response = await wire.send(request({ url: new URL(`${origin}/mcp`), body: '{}' }));
    assert.equal(await readText(response), 'POST application/json');
    assert.deepEqual(response.setCookie, ['a=1', 'b=2']);
    const moved = await wire.send(request({ url: new URL(`${origin}/moved`), method: 'GET' }));
    assert.deepEqual([moved.status, moved.header('location')], [307, '/mcp']);
    moved.discard();
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await assert.rejects(
    wire.send(request({ url: new URL(`http://127.0.0.1:${deadPort}/mcp`), method: 'GET' })),
    (error) => error instanceof WireError && !error.written,
  );
});
