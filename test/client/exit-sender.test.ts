import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { deleteBlocking, type ExitTarget, proxyFor } from '../../src/client/exit-sender.js';

/**
 * A server of its own thread: deleteBlocking blocks this one. Path /STATUS answers so, /hang never, /cut breaks off, /half after its headers, /auth takes one token,
 * /slow after a while, /together when twenty have asked.
 */
const SERVER = `
const { parentPort } = require('node:worker_threads');
const seen = [];
const together = [];
const server = require('node:http').createServer((request, response) => {
  seen.push({ method: request.method, url: request.url, headers: request.headers });
  const [, what] = request.url.split('/');
  if (what === 'hang') return;
  if (what === 'cut') return void request.socket.destroy();
  if (what === 'auth') return void response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end();
  if (what === 'half') {
    response.writeHead(200, { 'content-length': 9 }).write('half');
    return void setTimeout(() => request.socket.destroy(), 20);
  }
  if (what === 'slow') return void setTimeout(() => response.end(), 150);
  if (what === 'together') return void (together.push(response) === 20 && together.forEach((one) => one.end()));
  response.writeHead(parseInt(what, 10)).end('x'.repeat(1000));
});
server.on('connect', (request, socket, head) => {
  seen.push({ method: 'CONNECT', url: request.url, headers: request.headers });
  if (request.headers['proxy-authorization'] !== 'Basic ' + Buffer.from('us er:p@ss').toString('base64')) {
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n')).on('error', () => {});
    return void socket.write('HTTP/1.1 407 Proxy Authentication Required\\r\\n\\r\\n');
  }
  const [host, port] = request.url.split(':');
  const onwards = require('node:net').connect(port, host, () => {
    socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
    onwards.pipe(socket).pipe(onwards);
  });
  for (const one of [onwards, socket]) one.on('error', () => { onwards.destroy(); socket.destroy(); });
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
parentPort.on('message', () => parentPort.postMessage(seen.splice(0)));
`;

interface Seen {
  method: string;
  url: string;
  headers: Record<string, string>;
}

interface Server {
  origin: string;
  seen(): Promise<Seen[]>;
}

async function withServer(run: (server: Server) => Promise<void>): Promise<void> {
  const worker = new Worker(SERVER, { eval: true });
  const next = (): Promise<unknown> => new Promise((resolve) => worker.once('message', resolve));
  try {
    const port = (await next()) as number;
    await run({
      origin: `http://127.0.0.1:${port}`,
      async seen() {
        const list = next();
        worker.postMessage('seen');
        return (await list) as Seen[];
      },
    });
  } finally {
    await worker.terminate();
  }
}

/** The environment with these names, and no proxy but those, for as long as `run` takes. */
function withEnv<T>(env: Record<string, string>, run: () => T): T {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const before = [...names, ...Object.keys(env)].map((name) => [name, process.env[name]] as const);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, env);
  try {
    return run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

const blocking = (targets: ExitTarget[], deadlineMs: number, env: Record<string, string> = {}): number[] =>
  withEnv(env, () => deleteBlocking(targets, deadlineMs));

test('each target gets one DELETE with its headers, and its status comes back in its place', async () => {
  await withServer(async ({ origin, seen }) => {
    const statuses = [200, 404, 503, 204, 401, 301];
    const targets = statuses.map((status, n) => ({
      url: `${origin}/${status}?n=${n}`,
      headers: { 'mcp-session-id': `s${n}`, authorization: 'Bearer t' },
    }));
    assert.deepEqual(blocking(targets, 5_000), statuses);
    const requests = await seen();
    assert.equal(requests.length, statuses.length, 'a redirect is not followed');
    for (const { method, url, headers } of requests) {
      assert.equal(method, 'DELETE');
      assert.equal(headers['mcp-session-id'], `s${new URL(url, origin).searchParams.get('n')}`);
      assert.equal(headers.authorization, 'Bearer t');
      assert.equal(headers.connection, 'close');
    }
  });
});

test('a 401 is tried once more with the other headers, where there are any', async () => {
  await withServer(async ({ origin, seen }) => {
    const target = (used: string, other?: string): ExitTarget => ({
      url: `${origin}/auth/${used}`,
      headers: { authorization: `Bearer ${used}` },
      ...(other === undefined ? {} : { otherHeaders: { authorization: `Bearer ${other}` } }),
    });
    const targets = [target('old', 'new'), target('old1', 'old2'), target('none'), target('new', 'old3')];
    assert.deepEqual(blocking(targets, 5_000), [200, 401, 401, 200]);
    const tokens = (await seen()).map(({ headers }) => headers.authorization);
    assert.equal(tokens.length, 6);
    for (const token of ['old', 'old1', 'old2', 'none']) {
      assert.equal(tokens.filter((one) => one === `Bearer ${token}`).length, 1, token);
    }
  });
});

test('a target may carry what no other thread can be given', async () => {
  await withServer(async ({ origin }) => {
    const target: ExitTarget & { onStatus(): void } = { url: `${origin}/200`, headers: {}, onStatus() {} };
    assert.deepEqual(blocking([target], 5_000), [200]);
  });
});

test('twenty targets are sent at once, not in turn', async () => {
  await withServer(async ({ origin }) => {
    const targets = Array.from({ length: 20 }, () => ({ url: `${origin}/together`, headers: {} }));
    assert.deepEqual(
      blocking(targets, 20_000),
      targets.map(() => 200),
    );
  });
});

test('a server that does not answer costs the deadline and no more; the others have their status', async () => {
  await withServer(async ({ origin }) => {
    const targets = ['hang', '200', 'cut', 'half', 'slow', '404'].map((what) => ({
      url: `${origin}/${what}`,
      headers: {},
    }));
    assert.deepEqual(blocking(targets, 1_500), [-1, 200, -1, 200, 200, 404]);
  });
});

test('when every target has failed nobody waits for the deadline', async () => {
  await withServer(async ({ origin }) => {
    const targets = [
      { url: `${origin}/cut`, headers: {} },
      { url: 'http://127.0.0.1:1/mcp', headers: {} },
      { url: 'http://127.0.0.1:1/mcp', headers: { 'x y': 'not a header' } },
    ];
    const startedAt = performance.now();
    assert.deepEqual(blocking(targets, 60_000), [-1, -1, -1]);
    assert.ok(performance.now() - startedAt < 30_000);
  });
});

test('with nothing to send, or no time to do it, nothing is begun', async () => {
  assert.deepEqual(deleteBlocking([], 1_000), []);
  await withServer(async ({ origin, seen }) => {
    const targets = [{ url: `${origin}/200`, headers: {} }];
    assert.deepEqual([blocking(targets, 0), blocking(targets, -1)], [[-1], [-1]]);
    assert.deepEqual(await seen(), []);
  });
});

test('preloads of the host are left out', async () => {
  await withServer(async ({ origin }) => {
    const env = { NODE_OPTIONS: '--require /nowhere/preload.cjs' };
    assert.deepEqual(blocking([{ url: `${origin}/200`, headers: {} }], 5_000, env), [200]);
  });
});

test('a proxy is gone through with a tunnel and its credentials, which the server never sees', async () => {
  await withServer(async ({ origin, seen }) => {
    const proxy = origin.replace('//', '//us%20er:p%40ss@');
    const targets = [{ url: `${origin}/202`, headers: { 'mcp-session-id': 's' } }];
    assert.deepEqual(blocking(targets, 5_000, { HTTP_PROXY: proxy }), [202]);
    const [tunnel, request] = await seen();
    assert.deepEqual([tunnel?.method, tunnel?.url], ['CONNECT', origin.slice('http://'.length)]);
    assert.deepEqual([request?.method, request?.headers['mcp-session-id']], ['DELETE', 's']);
    assert.equal(request?.headers['proxy-authorization'], undefined);
    assert.deepEqual(blocking(targets, 5_000, { HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' }), [202]);
    assert.deepEqual(
      (await seen()).map(({ method }) => method),
      ['DELETE'],
    );
  });
});

test('a proxy that refuses or does not exist is a failure, not a way around it', async () => {
  await withServer(async ({ origin, seen }) => {
    const targets = [{ url: `${origin}/200`, headers: {} }];
    assert.deepEqual(blocking(targets, 5_000, { HTTP_PROXY: origin }), [-1]);
    assert.deepEqual(
      (await seen()).map(({ method }) => method),
      ['CONNECT'],
    );
    assert.deepEqual(blocking(targets, 5_000, { HTTP_PROXY: 'http://127.0.0.1:1' }), [-1]);
    assert.deepEqual(await seen(), []);
  });
});

test('which proxy a URL goes through, as undici reads the environment', () => {
  const [P, S] = ['http://proxy:3128', 'http://secure:3129'];
  const table: Array<[url: string, env: Record<string, string>, proxy: string | null]> = [
    ['http://a.example/', {}, null],
    ['http://a.example/', { HTTP_PROXY: P }, P],
    ['http://a.example/', { http_proxy: P }, P],
    ['http://a.example/', { http_proxy: P, HTTP_PROXY: S }, P],
    ['http://a.example/', { http_proxy: '', HTTP_PROXY: P }, null],
    ['http://a.example/', { HTTPS_PROXY: S }, null],
    ['https://a.example/', { HTTPS_PROXY: S, HTTP_PROXY: P }, S],
    ['https://a.example/', { https_proxy: S, HTTPS_PROXY: P }, S],
    ['https://a.example/', { HTTP_PROXY: P }, P],
    ['http://a.example/', { HTTP_PROXY: 'not a url' }, null],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: '*' }, null],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: 'a.example' }, null],
    ['http://a.example/', { HTTP_PROXY: P, no_proxy: 'A.Example' }, null],
    ['http://A.EXAMPLE/', { HTTP_PROXY: P, NO_PROXY: 'a.example' }, null],
    ['http://b.a.example/', { HTTP_PROXY: P, NO_PROXY: 'a.example' }, null],
    ['http://b.a.example/', { HTTP_PROXY: P, NO_PROXY: '.a.example' }, null],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: '*.a.example' }, null],
    ['http://ba.example/', { HTTP_PROXY: P, NO_PROXY: 'a.example' }, P],
    ['http://a.example.org/', { HTTP_PROXY: P, NO_PROXY: 'a.example' }, P],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: 'b, c.example  a.example' }, null],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: ' , ' }, P],
    ['http://a.example:81/', { HTTP_PROXY: P, NO_PROXY: 'a.example:81' }, null],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: 'a.example:81' }, P],
    ['http://a.example/', { HTTP_PROXY: P, NO_PROXY: 'a.example:80' }, null],
    ['https://a.example/', { HTTP_PROXY: P, NO_PROXY: 'a.example:443' }, null],
    ['http://a.example/', { HTTP_PROXY: P, no_proxy: '', NO_PROXY: 'a.example' }, P],
    ['http://127.0.0.1:7/', { HTTP_PROXY: P, NO_PROXY: '127.0.0.1' }, null],
    ['http://[::1]:7/', { HTTP_PROXY: P, NO_PROXY: '[::1]' }, null],
  ];
  for (const [url, env, proxy] of table) {
    assert.equal(proxyFor(new URL(url), env), proxy, `${url} ${JSON.stringify(env)}`);
  }
});

test('as undici reads it, an empty HTTPS_PROXY is none, and an asterisk counts only alone', () => {
  const proxy = 'http://proxy:3128';
  const empty = { HTTP_PROXY: proxy, HTTPS_PROXY: '' };
  assert.equal(proxyFor(new URL('https://a.example/'), empty), proxy);
  const list = { HTTP_PROXY: proxy, NO_PROXY: 'localhost,*' };
  assert.equal(proxyFor(new URL('http://a.example/'), list), proxy);
});
