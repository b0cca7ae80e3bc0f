import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_RETRY_AFTER_MS, retryAfterMs } from '../../src/protocol/retry-after.js';

const NOW = Date.parse('2026-11-05T10:00:00Z');

test('Retry-After is seconds or an HTTP date', () => {
  assert.equal(retryAfterMs('0', NOW), 0);
  assert.equal(retryAfterMs(' 7 ', NOW), 7_000);
  assert.equal(retryAfterMs('Thu, 05 Nov 2026 10:00:30 GMT', NOW), 30_000);
  assert.equal(retryAfterMs('Thu, 05 Nov 2026 09:00:00 GMT', NOW), 0, 'a time that has passed');
});

test('no longer wait than ten minutes is believed', () => {
  for (const value of ['601', '86400', '9'.repeat(400), 'Fri, 06 Nov 2026 10:00:00 GMT']) {
    assert.equal(retryAfterMs(value, NOW), MAX_RETRY_AFTER_MS, value);
  }
  assert.equal(MAX_RETRY_AFTER_MS, 600_000);
});

test('what is neither is as good as nothing', () => {
  for (const value of [undefined, null, '', '  ', 'soon', '5s'])
    assert.equal(retryAfterMs(value, NOW), undefined);
});
