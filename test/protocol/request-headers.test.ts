import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headerFault } from '../../src/protocol/headers.js';
import { bodyDerivedHeaders, encodeHeaderValue } from '../../src/protocol/request-headers.js';
import { verifies } from '../requirements.js';

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const headersOf = (method: string, params: Record<string, unknown> = {}): object =>
  Object.fromEntries(
    bodyDerivedHeaders({ jsonrpc: '2.0', id: 1, method, params: { _meta: META, ...params } }),
  );

test('a request of 2026-07-28 says its revision, its method and what it is about', () => {
  verifies('stateless/2026-07-28');
  const base = { 'mcp-protocol-version': '2026-07-28' };
  assert.deepEqual(headersOf('tools/list'), { ...base, 'mcp-method': 'tools/list' });
  const named: Array<[string, Record<string, unknown>, string]> = [
    ['tools/call', { name: 'pay' }, 'pay'],
    ['prompts/get', { name: 'p' }, 'p'],
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['tasks/get', { taskId: 't' }, 't'],
    ['tasks/update', { taskId: 't' }, 't'],
    ['tasks/cancel', { taskId: 't' }, 't'],
  ];
  for (const [method, params, name] of named) {
    assert.deepEqual(headersOf(method, params), { ...base, 'mcp-method': method, 'mcp-name': name });
  }
  assert.deepEqual(headersOf('tools/call', { name: 7 }), { ...base, 'mcp-method': 'tools/call' });
  assert.deepEqual(headersOf('toString', { name: 'x' }), { ...base, 'mcp-method': 'toString' });
});

test('messages of the older era, and what is no request, get none of them', () => {
  const older = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay' } } as const;
  assert.equal(bodyDerivedHeaders(older).size, 0);
  const notification = { jsonrpc: '2.0', method: 'notifications/progress', params: { _meta: META } } as const;
  assert.equal(bodyDerivedHeaders(notification).size, 0);
});

test('a value that a header cannot carry goes as base64 between the markers, and is read back the same', () => {
  const decode = (value: string): string => {
    const match = /^=\?base64\?(.*)\?=$/.exec(value);
    return match === null ? value : Buffer.from(match[1] as string, 'base64').toString('utf8');
  };
  for (const plain of ['pay', 'a b', 'a\tb', '~!', '=?base64?', '?='])
    assert.equal(encodeHeaderValue(plain), plain);
  for (const value of ['', ' a', 'a ', 'ä', 'a\nb', '=?base64?eA==?=', '日本', '\x7f']) {
    const encoded = encodeHeaderValue(value);
    assert.match(encoded, /^=\?base64\?[A-Za-z0-9+/=]*\?=$/, value);
    assert.equal(decode(encoded), value);
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (value) => {
      const encoded = encodeHeaderValue(value);
      assert.equal(headerFault('mcp-name', encoded), undefined);
      assert.equal(encoded, encoded.trim());
      assert.equal(decode(encoded), value);
    }),
    { numRuns: 200 },
  );
});
