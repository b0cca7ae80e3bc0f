import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noLedger } from '../../../src/session/outbound/ledger.js';

test('without a ledger nothing is kept, and nothing fails', () => {
  noLedger.opened({ url: 'http://a', id: 'a', principal: 'p' });
  noLedger.settled('http://a', 'a');
  assert.deepEqual(noLedger.claim('http://a', 'p'), []);
  noLedger.release();
  assert.equal(noLedger.fingerprint('secret'), '');
});
