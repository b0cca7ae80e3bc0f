import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCookieJar } from '../../src/protocol/cookies.js';
import { verifies } from '../requirements.js';

const NOW = Date.parse('2026-11-05T10:00:00Z');
const after = (url: string, ...lines: string[]): string | undefined => {
  const jar = createCookieJar(new URL(url));
  for (const line of lines) jar.store([line], NOW);
  return jar.header();
};
const HTTPS = 'https://a.example.com/mcp/v1';

test('cookies come back in the order in which they were set; a later value replaces the earlier', () => {
  verifies('hops/cookies');
  const jar = createCookieJar(new URL(HTTPS));
  assert.equal(jar.header(), undefined);
  jar.store(['lb=1; Path=/; HttpOnly', ' b = x=y ; SameSite=Lax'], NOW);
  assert.equal(jar.header(), 'lb=1; b=x=y');
  jar.store(['lb=2'], NOW);
  assert.equal(jar.header(), 'lb=2; b=x=y');
});

test('two jars know nothing of one another', () => {
  verifies('hops/cookies');
  const [a, b] = [createCookieJar(new URL(HTTPS)), createCookieJar(new URL(HTTPS))];
  a.store(['lb=1'], NOW);
  assert.equal(b.header(), undefined);
});

test('what is no name=value is left out', () => {
  assert.equal(after(HTTPS, '', '=x', 'name', ' =x', '; Path=/', 'a=b\r\nx: y'), undefined);
  assert.equal(after(HTTPS, 'empty='), 'empty=');
});

test('a cookie for another domain is left out, one for this or a parent is taken', () => {
  for (const domain of ['a.example.com', '.example.com', 'EXAMPLE.com', '']) {
    assert.equal(after(HTTPS, `lb=1; domain=${domain}`), 'lb=1', domain);
  }
  for (const domain of ['b.example.com', 'ample.com', 'x.a.example.com', 'example.org']) {
    assert.equal(after(HTTPS, `lb=1; Domain=${domain}`), undefined, domain);
  }
});

test('a secure cookie goes over https alone', () => {
  assert.equal(after(HTTPS, 'lb=1; Secure'), 'lb=1');
  assert.equal(after('http://a.example.com/mcp', 'lb=1; secure'), undefined);
});

test('a path covers what is below it, by whole segments', () => {
  for (const path of ['/', '/mcp', '/mcp/', '/mcp/v1', '', 'mcp']) {
    assert.equal(after(HTTPS, `lb=1; Path=${path}`), 'lb=1', path);
  }
  for (const path of ['/mc', '/mcp/v', '/mcp/v1/x', '/other']) {
    assert.equal(after(HTTPS, `lb=1; path=${path}`), undefined, path);
  }
});

test('Max-Age of 0 or less takes a cookie away; one that does not apply takes nothing away', () => {
  assert.equal(after(HTTPS, 'lb=1', 'lb=; Max-Age=0'), undefined);
  assert.equal(after(HTTPS, 'lb=1', 'lb=; Max-Age=-1'), undefined);
  assert.equal(after(HTTPS, 'lb=1; Max-Age=60'), 'lb=1');
  assert.equal(after(HTTPS, 'lb=1', 'lb=; Max-Age=0; Path=/other'), 'lb=1');
});

test('an Expires that has passed takes a cookie away, unless Max-Age says otherwise (RFC 6265, 5.3)', () => {
  const past = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT';
  assert.equal(after(HTTPS, 'lb=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT'), 'lb=1');
  assert.equal(after(HTTPS, `lb=1; Max-Age=60; ${past}`), 'lb=1');
  assert.equal(after(HTTPS, 'lb=1', `lb=; Path=/; ${past}`), undefined);
  assert.equal(after(HTTPS, 'lb=1', 'lb=; Expires=Thu, 05 Nov 2026 10:00:00 GMT'), undefined);
  assert.equal(after(HTTPS, 'lb=1; Expires=soon'), 'lb=1');
  assert.equal(after(HTTPS, 'lb=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Max-Age=0'), undefined);
});
