import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyBounds, readServerOptions, sameServer, type ServerOptions } from '../../src/client/options.js';
import { isMooringError } from '../../src/errors.js';

const URL_TEXT = 'http://127.0.0.1:5757/mcp';
const read = (options: object): ReturnType<typeof readServerOptions> =>
  readServerOptions('files', { url: URL_TEXT, ...options });

/** The options are refused, with words that match each pattern and name the server. */
function refused(options: unknown, ...patterns: RegExp[]): void {
  assert.throws(
    () => readServerOptions('files', options),
    (error) => {
      assert.ok(isMooringError(error), String(error));
      assert.equal(error.code, 'MOORING_BAD_OPTIONS');
      assert.equal(error.facts.server, 'files');
      assert.match(error.message, /^files: /);
      for (const pattern of patterns) assert.match(error.message, pattern);
      return true;
    },
    JSON.stringify(options),
  );
}

test('defaults are what the documentation says', () => {
  const { url, ...rest } = read({});
  assert.equal(url.href, URL_TEXT);
  assert.deepEqual(rest, {
    headers: undefined,
    authProvider: undefined,
    auth: undefined,
    principal: undefined,
    fetch: undefined,
    maxSessions: 16,
    acquireMs: 30_000,
    listen: 'active',
    streamIdleMs: 10_000,
    idleMs: 600_000,
    drainMs: 5_000,
    deleteMs: 2_000,
    exitMs: 2_000,
  });
  assert.deepEqual(read({ maxSessions: undefined, headers: undefined }), read({}));
});

test('each bound is included, and what lies beyond is refused by name', () => {
  const MAX = 2 ** 31 - 1;
  const bounds: Array<[keyof ServerOptions, min: number, max: number]> = [
    ['maxSessions', 1, 10_000],
    ['acquireMs', 1, MAX],
    ['streamIdleMs', 0, MAX],
    ['idleMs', 1, MAX],
    ['drainMs', 0, MAX],
    ['deleteMs', 1, MAX],
    ['exitMs', 0, MAX],
  ];
  for (const [name, min, max] of bounds) {
    for (const value of [min, max]) assert.equal(read({ [name]: value })[name as 'idleMs'], value, name);
    const wrong = [min - 1, max + 1, -1, Number.NaN, Number.POSITIVE_INFINITY, '7', null, true];
    for (const value of wrong) refused({ url: URL_TEXT, [name]: value }, new RegExp(`${name}: `));
  }
  refused({ url: URL_TEXT, maxSessions: 1.5 }, /maxSessions: /);
});

test('listen is one of three words', () => {
  for (const listen of ['off', 'active', 'always'] as const) assert.equal(read({ listen }).listen, listen);
  for (const listen of ['on', 'Off', true, null]) {
    refused({ url: URL_TEXT, listen }, /listen: /, /off.*active.*always/);
  }
});

test('an unknown name is refused, and named', () => {
  refused({ url: URL_TEXT, maxSession: 4 }, /maxSession\b/);
  refused({ url: URL_TEXT, idleMS: 4, foo: 1 }, /idleMS/, /foo/);
});

test('the url is http or https, as text or URL; anything else is refused with what to write', () => {
  assert.equal(read({ url: new URL('https://a.example/mcp') }).url.href, 'https://a.example/mcp');
  refused({ url: '127.0.0.1:5757/mcp' }, /url: /, /http:\/\/127\.0\.0\.1/);
  refused({ url: '/mcp' }, /url: is not a URL/);
  refused({ url: '' }, /url: is not a URL/);
  for (const url of ['ws://a/mcp', 'file:///a', 'localhost:5757/mcp'])
    refused({ url }, /url: .*http or https/);
  for (const url of ['http://user@a/mcp', 'http://:secret-pw@a/mcp']) {
    refused({ url }, /url: .*password.*headers/, /^(?!.*secret-pw)/);
  }
  for (const url of [undefined, null, 7, {}]) refused({ url }, /url: must be a URL/);
  refused({}, /url: /);
  for (const options of [undefined, null, 'http://a', []]) refused(options);
});

test('every fault is told at once', () => {
  refused({ url: 'x', maxSessions: 0, listen: 'on' }, /url: /, /maxSessions: /, /listen: /);
});

test('functions and providers are told apart from what is none', () => {
  const ok = { headers: () => ({}), authProvider: {}, auth: () => {}, fetch: () => {} };
  const settings = read(ok);
  for (const name of Object.keys(ok) as Array<keyof typeof ok>) assert.equal(settings[name], ok[name]);
  refused({ url: URL_TEXT, headers: 'a: b' }, /headers: /);
  refused({ url: URL_TEXT, authProvider: () => {} }, /authProvider: .*token/);
  refused({ url: URL_TEXT, auth: {} }, /auth: /);
  for (const principal of ['alice', () => 'alice']) assert.equal(read({ principal }).principal, principal);
  for (const principal of ['', 7, {}]) refused({ url: URL_TEXT, principal }, /principal: /);
  refused({ url: URL_TEXT, fetch: 'fetch' }, /fetch: must be a function/);
});

test('R064: headers that HTTP cannot carry are refused by name, and their values are not told', () => {
  for (const headers of [
    { 'x-a': 'secret\n' },
    [['x-a', 'secret\n']],
    new Map([['x-a', 'secret\n']]),
  ] as Array<ServerOptions['headers']>) {
    assert.throws(
      () => read({ headers }),
      (error) =>
        isMooringError(error) &&
        error.code === 'MOORING_BAD_OPTIONS' &&
        /^files: headers: .*x-a/.test(error.message) &&
        !error.message.includes('secret'),
    );
  }
  refused({ url: URL_TEXT, headers: { 'x a': '1' } }, /headers: .*x a/);
});

test('headers of a shape that is none are refused like every other wrong option', () => {
  for (const headers of [['x-a: 1'], [7], [[7, 'x']], [null]]) refused({ url: URL_TEXT, headers }, /headers/);
});

test('sessions may go on when only bounds differ; what identifies the server or its user ends them', () => {
  const base = { headers: { 'X-A': '1', b: '2' } };
  const same: object[] = [
    {},
    { maxSessions: 4, acquireMs: 1, streamIdleMs: 1, idleMs: 1, drainMs: 1, deleteMs: 1, exitMs: 1 },
    {
      headers: [
        ['b', '2'],
        ['x-a', '1'],
      ],
    },
    {
      headers: new Map([
        ['B', '2'],
        ['x-A', '1'],
      ]),
    },
    { url: new URL(URL_TEXT) },
  ];
  for (const change of same)
    assert.ok(sameServer(read(base), read({ ...base, ...change })), JSON.stringify(change));
  const other: object[] = [
    { url: `${URL_TEXT}/` },
    { url: `${URL_TEXT}?a=1` },
    { headers: { 'x-a': '1' } },
    { headers: { 'x-a': '2', b: '1' } },
    { headers: undefined },
    { headers: () => base.headers },
    { listen: 'off' },
    { authProvider: {} },
    { auth: () => {} },
    { principal: 'alice' },
    { fetch: () => {} },
  ];
  for (const change of other) {
    assert.equal(sameServer(read(base), read({ ...base, ...change })), false, Object.keys(change).join());
    assert.equal(sameServer(read({ ...base, ...change }), read(base)), false, Object.keys(change).join());
  }
  const headers = (): object => ({});
  assert.ok(sameServer(read({ headers }), read({ headers })), 'a function counts by identity');
});

test('new bounds are taken over, and nothing else', () => {
  const target = read({ headers: { a: '1' } });
  const bounds = {
    maxSessions: 4,
    acquireMs: 2,
    streamIdleMs: 3,
    idleMs: 5,
    drainMs: 6,
    deleteMs: 7,
    exitMs: 8,
  };
  applyBounds(target, read({ ...bounds, listen: 'off', url: 'http://other/' }));
  assert.deepEqual(target, read({ ...bounds, headers: { a: '1' } }));
});
