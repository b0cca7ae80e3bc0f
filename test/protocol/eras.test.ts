import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ASSUMED_VERSION, eraOf, isKnownVersion, KNOWN_VERSIONS } from '../../src/protocol/eras.js';

test('R122: the era is read off the version: stateless from 2026-07-28 on', () => {
  const stateful = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-27'];
  for (const version of stateful) assert.equal(eraOf(version), 'stateful', version);
  for (const version of ['2026-07-28', '2026-12-01', '2031-01-01']) assert.equal(eraOf(version), 'stateless');
});

test('a name that is no date counts as stateful', () => {
  for (const version of ['draft', 'DRAFT-2026-v2', '', '2026-07-28-rc', '9999']) {
    assert.equal(eraOf(version), 'stateful', version);
  }
});

test('known are the revisions with the transport, the one before it, and nothing else', () => {
  for (const version of [...KNOWN_VERSIONS, '2024-11-05']) assert.ok(isKnownVersion(version), version);
  for (const version of ['', 'draft', '2025-01-01', '2024-10-07'])
    assert.equal(isKnownVersion(version), false);
  assert.equal(ASSUMED_VERSION, '2025-03-26');
});
