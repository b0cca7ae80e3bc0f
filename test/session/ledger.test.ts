import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOwed, noLedger } from '../../src/session/ledger.js';

test('what is owed is listed until it is settled; the last one is told once', () => {
  let empty = 0;
  const owed = createOwed<string>(() => (empty += 1));
  owed.settle('never added');
  owed.add('a', 'A');
  owed.add('b', 'B');
  assert.deepEqual(owed.targets(), [
    { id: 'a', target: 'A' },
    { id: 'b', target: 'B' },
  ]);
  owed.settle('a');
  owed.settle('a');
  assert.deepEqual([owed.size, empty], [1, 0]);
  owed.add('b', 'B2');
  assert.deepEqual(owed.targets(), [{ id: 'b', target: 'B2' }]);
  owed.settle('b');
  owed.settle('b');
  assert.deepEqual([owed.size, empty], [0, 1]);
});

test('without a ledger nothing is written', () => {
  noLedger.opened({ url: 'http://a', id: 'a', principal: 'p' });
  noLedger.settled('a');
});
