import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createFingerprint } from '../../src/session/fingerprint.js';

test('12 hex digits of a keyed hash: the same for the same secret, another for another', () => {
  const key = new Uint8Array(32).fill(7);
  const fingerprint = createFingerprint(key);
  const wanted = createHmac('sha256', key).update('session-1').digest('hex').slice(0, 12);
  assert.equal(fingerprint('session-1'), wanted);
  assert.match(wanted, /^[0-9a-f]{12}$/);
  assert.notEqual(fingerprint('session-2'), wanted);
});

test('two instances cannot be compared by outsiders: each has a key of its own', () => {
  assert.notEqual(createFingerprint()('session-1'), createFingerprint()('session-1'));
});
