import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRestore, type Restore } from '../../src/client/restore.js';

const after = (...confirmed: Array<[method: string, params?: Record<string, unknown>]>): Restore => {
  const restore = createRestore();
  for (const [method, params] of confirmed) {
    restore.confirmed({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) });
  }
  return restore;
};
const level = (name: string): [string, Record<string, unknown>] => ['logging/setLevel', { level: name }];
const subscribe = (uri: string): [string, Record<string, unknown>] => ['resources/subscribe', { uri }];

test('a session that was told nothing needs nothing', () => {
  const restore = after(
    ['tools/call', { name: 'x', uri: 'file:///a' }],
    ['resources/read', { uri: 'file:///a' }],
  );
  assert.deepEqual(restore.requests(), []);
  assert.equal(restore.hasSubscriptions, false);
});

test('the latest log level and each subscription that stands are told again, the level first', () => {
  const restore = after(
    subscribe('file:///a'),
    level('debug'),
    subscribe('file:///b'),
    level('error'),
    subscribe('file:///a'),
    ['resources/unsubscribe', { uri: 'file:///b' }],
    ['resources/unsubscribe', { uri: 'file:///never' }],
  );
  assert.deepEqual(restore.requests(), [
    { method: 'logging/setLevel', params: { level: 'error' } },
    { method: 'resources/subscribe', params: { uri: 'file:///a' } },
  ]);
  assert.deepEqual(restore.requests(), restore.requests(), 'as often as it is needed');
  assert.equal(restore.hasSubscriptions, true);
});

test('without subscriptions there are none to listen for', () => {
  const restore = after(level('info'), subscribe('file:///a'), [
    'resources/unsubscribe',
    { uri: 'file:///a' },
  ]);
  assert.equal(restore.hasSubscriptions, false);
  assert.equal(restore.requests().length, 1);
});

test('what is malformed is not told again', () => {
  assert.deepEqual(after(['resources/subscribe'], ['resources/subscribe', { uri: 7 }]).requests(), []);
});

test('progress belongs to the session that is gone: its token is not told again', () => {
  const meta = { _meta: { progressToken: 7 } };
  const restore = after(
    ['logging/setLevel', { level: 'info', ...meta }],
    ['resources/subscribe', { uri: 'file:///a', ...meta }],
  );
  assert.doesNotMatch(JSON.stringify(restore.requests()), /progressToken/);
});
