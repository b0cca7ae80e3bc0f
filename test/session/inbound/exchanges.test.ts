import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';

test('R085, R086: two requests with the same id in flight are two exchanges, and end apart', () => {
  const { open } = fixture();
  const session = open();
  const chat1 = session.beginRequest(1, 'tools/call');
  const chat2 = session.beginRequest(1, 'tools/call');
  assert.ok(chat1 && chat2);
  assert.notEqual(chat1.key, chat2.key);
  assert.deepEqual([chat1.isDuplicate, chat2.isDuplicate], [false, true]);
  chat2.end(200);
  chat2.end(200);
  assert.equal(session.inFlight, 1, 'the first one still waits, and an exchange ends once');
  assert.equal(session.state, 'active');
  chat1.end(200);
  assert.equal(session.inFlight, 0);
  assert.equal(session.beginRequest(1, 'tools/call')?.isDuplicate, false);
});

test('R085: 1 and "1" are two ids', () => {
  const { open } = fixture();
  const session = open();
  session.beginRequest(1, 'tools/call');
  assert.equal(session.beginRequest('1', 'tools/call')?.isDuplicate, false);
});

test('R086: a cancellation that fits two exchanges fits none', () => {
  const { open } = fixture();
  const session = open();
  const first = session.beginRequest(1, 'tools/call');
  assert.equal(session.exchangeOf(1), first);
  assert.equal(session.exchangeOf('1'), undefined);
  const second = session.beginRequest(1, 'tools/call');
  assert.equal(session.exchangeOf(1), undefined, 'ambiguous: ignored');
  first?.end(200);
  assert.equal(session.exchangeOf(1), second);
  second?.end();
  assert.equal(session.exchangeOf(1), undefined);
});
