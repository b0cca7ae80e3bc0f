import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  envelopeVersion,
  errorResponse,
  isReadMethod,
  isRequest,
  isResponse,
  isWorkMethod,
  kindOf,
  type Message,
  parseMessages,
} from '../../src/protocol/jsonrpc.js';

const message = (rest: Record<string, unknown>): Message => ({ jsonrpc: '2.0', ...rest }) as Message;

test('each envelope is a request, a notification, a response, or nothing', () => {
  const table: Array<[unknown, string]> = [
    [message({ id: 1, method: 'ping' }), 'request'],
    [message({ id: 0, method: 'ping' }), 'request'],
    [message({ id: '', method: 'ping' }), 'request'],
    [message({ method: 'notifications/initialized' }), 'notification'],
    [message({ id: null, method: 'ping' }), 'invalid'],
    [message({ id: true, method: 'ping' }), 'invalid'],
    [message({ id: 1, result: {} }), 'response'],
    [message({ id: 1, result: null }), 'response'],
    [message({ id: 'a', error: { code: 1, message: '' } }), 'response'],
    [message({ id: null, error: { code: 1, message: '' } }), 'response'],
    [message({ result: {} }), 'invalid'],
    [message({ id: 1 }), 'invalid'],
    [message({ id: 1, method: 7 }), 'invalid'],
    [[], 'invalid'],
    [null, 'invalid'],
    ['ping', 'invalid'],
  ];
  for (const [value, kind] of table) assert.equal(kindOf(value), kind, JSON.stringify(value));
});

test('an error without an id answers nobody', () => {
  assert.equal(isResponse(message({ id: null, error: { code: 1, message: '' } })), false);
  assert.equal(isResponse(message({ id: 0, result: {} })), true);
  assert.equal(isRequest(message({ id: 0, result: {} })), false);
  assert.equal(isRequest(message({ id: 0, method: 'ping' })), true);
});

test('ping and the handshake are no work; everything else is', () => {
  assert.deepEqual(['ping', 'initialize', 'tools/call', 'tools/list', 'x'].map(isWorkMethod), [
    false,
    false,
    true,
    true,
    true,
  ]);
});

test('only what reads by definition may be asked again; a tool call is not among it', () => {
  for (const method of [
    'ping',
    'server/discover',
    'tools/list',
    'resources/read',
    'prompts/get',
    'tasks/get',
  ]) {
    assert.ok(isReadMethod(method), method);
  }
  for (const method of [
    'tools/call',
    'initialize',
    'resources/subscribe',
    'logging/setLevel',
    'tasks/cancel',
    'tasks/result',
  ]) {
    assert.equal(isReadMethod(method), false, method);
  }
});

test('a body is one message or a batch of them, or it is nothing', () => {
  assert.equal(parseMessages('{"jsonrpc":"2.0","id":1,"result":{}}')?.length, 1);
  assert.equal(parseMessages('[{"jsonrpc":"2.0","id":1,"result":{}},{"method":"x"}]')?.length, 2);
  for (const text of ['', 'null', '{}', '[]', '[{"method":"x"},1]', '{"id":1', '"ping"', '<html>']) {
    assert.equal(parseMessages(text), undefined, text);
  }
});

test('an error response carries data only when there is some', () => {
  assert.deepEqual(errorResponse(1, -32601, 'no'), {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32601, message: 'no' },
  });
  assert.deepEqual(errorResponse(null, 1, 'no', 0).error, { code: 1, message: 'no', data: 0 });
});

test('a request names its own revision in _meta, as a string', () => {
  const named = (meta: unknown): string | undefined =>
    envelopeVersion(message({ id: 1, method: 'x', params: { _meta: meta } }));
  assert.equal(named({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }), '2026-07-28');
  for (const meta of [undefined, null, 'x', {}, { 'io.modelcontextprotocol/protocolVersion': 7 }]) {
    assert.equal(named(meta), undefined);
  }
  assert.equal(envelopeVersion(message({ id: 1, method: 'x' })), undefined);
});
