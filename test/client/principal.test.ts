import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrincipals, type Principals } from '../../src/client/principal.js';
import { createFingerprint } from '../../src/session/fingerprint.js';

const principals = (): Principals => createPrincipals(createFingerprint(new Uint8Array(32)));
const headers = (fields: Record<string, string>): Map<string, string> => new Map(Object.entries(fields));
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
let signature = 0;
/** A token with these claims, and a signature that no other has. */
const jwt = (claims: unknown): string => `${part({ alg: 'none' })}.${part(claims)}.sig${(signature += 1)}`;
const bearer = (token: string, rest: Record<string, string> = {}): Map<string, string> =>
  headers({ authorization: `Bearer ${token}`, ...rest });
const ALICE = { iss: 'https://id.example', sub: 'alice' };

test('an opaque token stands for itself, and appears nowhere', () => {
  const known = principals();
  const alice = known.of(bearer('secret-a'));
  assert.equal(known.of(bearer('secret-a')), alice);
  assert.notEqual(known.of(bearer('secret-b')), alice);
  assert.match(alice, /^[0-9a-f]{12}$/);
  known.accepted(bearer('secret-a'));
  assert.equal(known.of(bearer('secret-a')), alice, 'acceptance changes nothing');
});

test('the claims of a JWT count only after the server has accepted this very token', () => {
  const known = principals();
  const [first, second] = [bearer(jwt(ALICE)), bearer(jwt(ALICE))];
  const before = known.of(first);
  assert.notEqual(known.of(second), before, 'until then each token is its own');
  known.accepted(first);
  assert.equal(known.of(first), before, 'the principal does not change under a session');
  assert.notEqual(known.of(second), before, 'anybody can write claims');
  known.accepted(second);
  assert.equal(known.of(second), before, 'a refreshed token is the same principal');
});

test('another issuer, subject or client is another principal', () => {
  const known = principals();
  const claims = [
    ALICE,
    { ...ALICE, iss: 'https://other.example' },
    { ...ALICE, sub: 'bob' },
    { ...ALICE, azp: 'app' },
    { ...ALICE, client_id: 'app2' },
  ];
  const seen = claims.map((one) => {
    const token = bearer(jwt(one));
    known.accepted(token);
    return known.of(token);
  });
  assert.equal(new Set(seen).size, claims.length);
  const refreshed = bearer(jwt({ ...ALICE, azp: 'app', exp: 7 }));
  known.accepted(refreshed);
  assert.equal(known.of(refreshed), seen[3]);
});

test('other credentials beside the token belong to the principal', () => {
  const known = principals();
  const a = bearer(jwt(ALICE), { 'x-tenant-id': 'a' });
  const b = bearer(jwt(ALICE), { 'x-tenant-id': 'b' });
  known.accepted(a);
  known.accepted(b);
  assert.notEqual(known.of(a), known.of(b));
});

test('a token that only looks like a JWT stands for itself', () => {
  const known = principals();
  const odd = [
    jwt({ sub: 'alice' }),
    jwt({ iss: 'x', sub: 7 }),
    jwt(null),
    jwt('x'),
    'a.b.c',
    `${jwt(ALICE)}.more`,
  ];
  for (const token of odd) {
    const own = bearer(token);
    known.accepted(own);
    assert.equal(known.of(own), principals().of(own), token);
  }
  const basic = headers({ authorization: `Basic ${jwt(ALICE)}` });
  known.accepted(basic);
  assert.equal(known.of(basic), principals().of(basic));
});

test('headers that say who one is make a principal; user-agent and the like do not', () => {
  const known = principals();
  const nobody = known.of(new Map());
  for (const name of [
    'user-agent',
    'x-user-agent',
    'accept',
    'accept-language',
    'mcp-protocol-version',
    'traceparent',
    'x-request-id',
  ]) {
    assert.equal(known.of(headers({ [name]: 'x' })), nobody, name);
  }
  for (const name of [
    'authorization',
    'cookie',
    'x-api-key',
    'api-key',
    'apikey',
    'x_api_key',
    'x-auth-token',
    'private-token',
    'x-client-secret',
    'x-user-id',
    'x-tenant',
    'x-account-id',
    'proxy-authorization',
  ]) {
    assert.notEqual(known.of(headers({ [name]: 'x' })), nobody, name);
    assert.notEqual(known.of(headers({ [name]: 'x' })), known.of(headers({ [name]: 'y' })), name);
  }
});

test('keys of common clouds and proxies are credentials too', () => {
  const known = principals();
  for (const name of [
    'ocp-apim-subscription-key',
    'x-functions-key',
    'x-access-key',
    'x-goog-iap-jwt-assertion',
    'x-password',
  ]) {
    assert.notEqual(known.of(headers({ [name]: 'x' })), known.of(headers({ [name]: 'y' })), name);
  }
});

test('the order of headers makes no difference, their borders do', () => {
  const known = principals();
  assert.equal(
    known.of(headers({ 'x-api-key': 'a', 'x-user': 'b' })),
    known.of(headers({ 'x-user': 'b', 'x-api-key': 'a' })),
  );
  assert.notEqual(
    known.of(headers({ 'x-api-key': 'a', 'x-user': 'b' })),
    known.of(headers({ 'x-api-key': 'b', 'x-user': 'a' })),
  );
});

test('of thousands of tokens the latest are remembered', () => {
  const known = principals();
  const first = bearer(jwt({ ...ALICE, sub: 'first' }));
  known.accepted(first);
  for (let n = 0; n < 1_000; n += 1) known.accepted(bearer(jwt({ ...ALICE, sub: String(n) })));
  const refreshed = bearer(jwt({ ...ALICE, sub: 'first' }));
  known.accepted(refreshed);
  assert.notEqual(known.of(refreshed), known.of(first));
  const latest = bearer(jwt({ ...ALICE, sub: '999' }));
  const before = known.of(latest);
  known.accepted(latest);
  assert.notEqual(known.of(latest), before, 'still known by its claims');
});
