import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Credentials, createCredentials } from '../../src/client/credentials.js';
import { readServerOptions, type ServerOptions } from '../../src/client/options.js';
import { type SessionIdentity, sendForSession } from '../../src/client/session-http.js';
import type { Wire, WireResponse } from '../../src/client/wire.js';
import { isMooringError } from '../../src/errors.js';
import { createCookieJar } from '../../src/protocol/cookies.js';
import { fakeContext, settle } from '../support/fake-context.js';
import { manualClock } from '../support/manual-clock.js';
import { verifies } from '../requirements.js';

const URL_TEXT = 'http://127.0.0.1:1/mcp';
const credentials = (options: Partial<ServerOptions>): Credentials =>
  createCredentials('files', readServerOptions('files', { url: URL_TEXT, ...options }));

/** What a 401 looked like. */
const refusal = (challenge?: string): WireResponse => ({
  status: 401,
  header: (name) => (name === 'www-authenticate' ? challenge : undefined),
  setCookie: [],
  async *chunks() {},
  discard() {},
});

const withToken = (token: string, rest: Record<string, string> = {}): Map<string, string> =>
  new Map(Object.entries({ authorization: `Bearer ${token}`, ...rest }));

test('R067: headers and tokens are asked for each time', async () => {
  verifies('auth/asked-for-each-request');
  let n = 0;
  const own = credentials({
    headers: () => ({ 'X-N': String((n += 1)) }),
    authProvider: { token: () => `t${n}` },
  });
  assert.deepEqual([...(await own.headers())], [...new Map([['x-n', '1'], ...withToken('t1')])]);
  assert.deepEqual([...(await own.headers())], [...new Map([['x-n', '2'], ...withToken('t2')])]);
});

test('a token may come from either kind of provider, sooner or later, or not at all', async () => {
  const bearer = async (authProvider: ServerOptions['authProvider']): Promise<string | undefined> =>
    (await credentials({ authProvider, headers: { Authorization: 'Basic x' } }).headers()).get(
      'authorization',
    );
  assert.equal(await bearer({ token: async () => 'v2' }), 'Bearer v2');
  assert.equal(
    await bearer({ tokens: async () => ({ access_token: 'v1', token_type: 'Bearer' }) }),
    'Bearer v1',
  );
  assert.equal(await bearer({ token: () => 'both', tokens: () => ({ access_token: 'x' }) }), 'Bearer both');
  for (const none of [{ token: () => undefined }, { tokens: () => undefined }, { tokens: () => ({}) }, {}]) {
    assert.equal(await bearer(none), 'Basic x', 'the host has said what else to send');
  }
});

test('what the host throws is what the caller gets', async () => {
  const own = new Error('vault is sealed');
  const throwing = credentials({ headers: () => Promise.reject(own) });
  await assert.rejects(throwing.headers(), (error) => error === own);
  const token = credentials({
    authProvider: {
      token() {
        throw own;
      },
    },
  });
  await assert.rejects(token.headers(), (error) => error === own);
});

const isBadOptions = (error: unknown): boolean =>
  isMooringError(error) &&
  error.code === 'MOORING_BAD_OPTIONS' &&
  error.facts.server === 'files' &&
  /files/.test(error.message) &&
  !error.message.includes('secret');

test('R064: a header that HTTP cannot carry is named, its value is not', async () => {
  verifies('secrets/not-in-errors');
  await assert.rejects(credentials({ headers: () => ({ 'x-a': 'secret\n' }) }).headers(), isBadOptions);
});

test('R064: so is a token that HTTP cannot carry, like one read from a file with its line end', async () => {
  verifies('secrets/not-in-errors');
  await assert.rejects(credentials({ authProvider: { token: () => 'secret\n' } }).headers(), isBadOptions);
});

test('after a 401, one refresh is shared by all who wait', async () => {
  verifies('auth/one-refresh');
  let refreshes = 0;
  let finish: () => void = () => {};
  let token = 'old';
  const own = credentials({
    authProvider: {
      token: () => token,
      onUnauthorized: () =>
        new Promise<void>((resolve) => {
          refreshes += 1;
          finish = () => {
            token = 'new';
            resolve();
          };
        }),
    },
  });
  const waiting = [1, 2, 3].map(() => own.refresh(withToken('old'), refusal()));
  await settle();
  const late = own.refresh(withToken('old'), refusal());
  await settle();
  finish();
  assert.deepEqual(await Promise.all([...waiting, late]), [true, true, true, true]);
  assert.equal(refreshes, 1);
  assert.equal(await own.refresh(withToken('old'), refusal()), true, 'somebody else has signed in meanwhile');
  assert.equal(refreshes, 1);
  const again = own.refresh(withToken('new'), refusal());
  await settle();
  finish();
  assert.equal(await again, true);
  assert.equal(refreshes, 2);
});

test('with nothing to ask and nothing new, it is not worth asking again', async () => {
  assert.equal(await credentials({}).refresh(new Map(), refusal()), false);
  const fixed = credentials({ headers: { authorization: 'Bearer old' } });
  assert.equal(await fixed.refresh(withToken('old'), refusal()), false);
  const provider = credentials({ authProvider: { token: () => 'old' } });
  assert.equal(await provider.refresh(withToken('old'), refusal()), false);
});

test("the host's function may have something new by itself, whichever header carries it", async () => {
  for (const name of ['authorization', 'cookie', 'x-api-key']) {
    let value = 'old';
    const own = credentials({ headers: () => ({ [name]: value }) });
    const used = await own.headers();
    value = 'new';
    assert.equal(await own.refresh(used, refusal()), true, name);
  }
});

/** One POST of a session whose server takes only the refreshed token; what each try carried. */
async function refreshedOnTheWay(
  headers: Record<string, string>,
  setCookie: string[],
): Promise<{ status: number; refreshedInVain: boolean; sent: Array<ReadonlyMap<string, string>> }> {
  let token = 'old';
  const sent: Array<ReadonlyMap<string, string>> = [];
  const wire: Wire = {
    send(request) {
      sent.push(request.headers);
      const ok = request.headers.get('authorization') === 'Bearer new';
      return Promise.resolve({ ...refusal('Bearer'), status: ok ? 202 : 401 });
    },
    unref() {},
  };
  const context = fakeContext(manualClock(), wire, {
    headers,
    authProvider: {
      token: () => token,
      onUnauthorized: async () => {
        token = 'new';
      },
    },
  });
  const identity: SessionIdentity = {
    id: 'session-1',
    version: '2025-11-25',
    cookies: createCookieJar(new URL(URL_TEXT)),
    lastHeaders: new Map(),
    credentials: new Map(),
  };
  identity.cookies.store(setCookie, 0);
  const { status, refreshedInVain } = await sendForSession(context, identity, {
    method: 'POST',
    accept: 'application/json, text/event-stream',
    body: '{}',
    signal: new AbortController().signal,
  });
  return { status, refreshedInVain, sent };
}

test("cookies of the load balancer are none of the host's credentials: the token is refreshed all the same", async () => {
  verifies('auth/one-refresh');
  for (const own of [{}, { cookie: 'own=1' }]) {
    const { status, refreshedInVain, sent } = await refreshedOnTheWay(own, ['lb=node-1; Path=/']);
    assert.deepEqual([status, refreshedInVain], [202, false]);
    const cookie = own.cookie === undefined ? 'lb=node-1' : 'own=1; lb=node-1';
    assert.deepEqual(
      sent.map((headers) => [headers.get('authorization'), headers.get('cookie')]),
      [
        ['Bearer old', cookie],
        ['Bearer new', cookie],
      ],
    );
  }
});

test("headers of the host's that we overwrite are no news either", async () => {
  verifies('auth/one-refresh');
  const overwritten: Array<Record<string, string>> = [
    { Accept: '*/*' },
    { 'Content-Type': 'text/plain' },
    { 'Accept-Encoding': 'gzip' },
    { 'MCP-Protocol-Version': '2024-11-05' },
  ];
  for (const headers of overwritten) {
    const { status, refreshedInVain } = await refreshedOnTheWay(headers, []);
    assert.deepEqual([status, refreshedInVain], [202, false], Object.keys(headers)[0]);
  }
});

test('a provider of SDK v2 is told the status, the challenge and where it came from', async () => {
  const contexts: Array<{ response: Response; serverUrl: URL; fetchFn: unknown }> = [];
  const own = credentials({
    authProvider: { onUnauthorized: async (context) => void contexts.push(context) },
  });
  assert.equal(await own.refresh(new Map(), refusal('Bearer scope="a"')), true);
  await own.refresh(new Map(), refusal());
  const [first, second] = contexts;
  assert.equal(first?.response.status, 401);
  assert.equal(first.response.headers.get('www-authenticate'), 'Bearer scope="a"');
  assert.equal(second?.response.headers.get('www-authenticate'), null);
  assert.equal(first.serverUrl.href, URL_TEXT);
  assert.equal(first.fetchFn, fetch);
});

test('a refresh that fails fails for all who wait, and the next 401 begins another', async () => {
  let refreshes = 0;
  const own = credentials({
    authProvider: {
      onUnauthorized: () => {
        refreshes += 1;
        return Promise.reject(new Error('no network'));
      },
    },
  });
  const [a, b] = [own.refresh(new Map(), refusal()), own.refresh(new Map(), refusal())];
  await assert.rejects(a, /no network/);
  await assert.rejects(b, /no network/);
  assert.equal(refreshes, 1);
  await assert.rejects(own.refresh(new Map(), refusal()), /no network/);
  assert.equal(refreshes, 2);
});

test("the SDK's auth is called with what the challenge says; a redirect means: sign in first", async () => {
  const calls: unknown[] = [];
  const authProvider = { tokens: () => undefined };
  let outcome: 'AUTHORIZED' | 'REDIRECT' = 'AUTHORIZED';
  const own = credentials({
    authProvider,
    auth: async (provider, options) => {
      assert.equal(provider, authProvider);
      calls.push(options);
      return outcome;
    },
  });
  const challenge =
    'Bearer error="invalid_token", resource_metadata="https://a.example/.well-known/x", scope="a b"';
  assert.equal(await own.refresh(new Map(), refusal(challenge)), true);
  assert.deepEqual(calls[0], {
    serverUrl: new URL(URL_TEXT),
    fetchFn: fetch,
    resourceMetadataUrl: new URL('https://a.example/.well-known/x'),
    scope: 'a b',
  });
  await own.refresh(new Map(), refusal('Bearer resource_metadata="not a url"'));
  assert.deepEqual(calls[1], { serverUrl: new URL(URL_TEXT), fetchFn: fetch });
  outcome = 'REDIRECT';
  await assert.rejects(own.refresh(new Map(), refusal()), (error) => {
    assert.ok(isMooringError(error) && error.code === 'MOORING_UNAUTHORIZED');
    assert.match(error.message, /sign in/);
    assert.equal((error as unknown as Record<symbol, unknown>)[Symbol.for('mcp.authSeamEscape')], true);
    return true;
  });
});

test('finishing a sign-in hands the code over, and says what is missing or wrong', async () => {
  const codes: unknown[] = [];
  const own = (outcome: 'AUTHORIZED' | 'REDIRECT'): Credentials =>
    credentials({
      authProvider: {},
      auth: async (_, options) => {
        codes.push(options.authorizationCode);
        return outcome;
      },
    });
  await own('AUTHORIZED').finish('secret-code');
  assert.deepEqual(codes, ['secret-code']);
  await assert.rejects(
    own('REDIRECT').finish('secret-code'),
    (error) =>
      isMooringError(error) &&
      error.code === 'MOORING_UNAUTHORIZED' &&
      !error.message.includes('secret-code'),
  );
  for (const options of [{}, { authProvider: {} }, { auth: async () => 'AUTHORIZED' as const }]) {
    await assert.rejects(
      credentials(options).finish('x'),
      (error) =>
        isMooringError(error) && error.code === 'MOORING_BAD_OPTIONS' && error.facts.server === 'files',
    );
  }
});
