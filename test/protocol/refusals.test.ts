import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_SESSION_MESSAGES, namesLostSession, namesSession } from '../../src/protocol/refusals.js';

// The messages as servers send them, not as the list spells them.
const REAL = [
  '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}',
  'Invalid session ID',
  'Session not found',
  'UNKNOWN SESSION',
  'Your session expired, please reconnect',
  '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}',
];

test('R044: every known message is recognised in the bodies that real servers send', () => {
  for (const body of REAL) assert.ok(namesLostSession(body), body);
  assert.equal(KNOWN_SESSION_MESSAGES.length, REAL.length, 'one body for each entry');
  for (const { text, source } of KNOWN_SESSION_MESSAGES) {
    assert.equal(text, text.toLowerCase(), 'matched in lower case');
    assert.ok(source.length > 0);
  }
});

test('R047: other complaints are no refusal', () => {
  for (const body of [
    '',
    'Invalid arguments',
    'session',
    'Bad Request: Mcp-Session-Id header is required',
    'obsession',
  ]) {
    assert.equal(namesLostSession(body), false, body);
  }
});

test('only the beginning of a body is looked at', () => {
  assert.ok(namesLostSession(`${' '.repeat(4000)}session not found`));
  assert.equal(namesLostSession(`${' '.repeat(4096)}session not found`), false);
  assert.equal(namesSession(`${' '.repeat(4096)}session`), false);
});

test('a 401 may name the session in any words', () => {
  assert.ok(namesSession('The session is bound to another token'));
  assert.ok(namesSession('Invalid Session ID'));
  for (const body of ['', 'token expired', 'sessions are not supported', 'obsession']) {
    assert.equal(namesSession(body), false, body);
  }
});
