import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOwed } from '../../../src/session/outbound/owed.js';

test('what is owed is listed until it is settled; each time that nothing is left is told', () => {
  let empty = 0;
  const owed = createOwed<string>(() => (empty += 1));
  owed.settle('http://a', 'never added');
  owed.add('http://a', '1', 'A');
  owed.add('http://a', '2', 'B');
  assert.deepEqual(owed.targets(), ['A', 'B']);
  owed.settle('http://a', '1');
  owed.settle('http://a', '1');
  assert.deepEqual([owed.size, empty], [1, 0]);
  owed.add('http://a', '2', 'B2');
  assert.deepEqual(owed.targets(), ['B2']);
  owed.settle('http://a', '2');
  owed.settle('http://a', '2');
  assert.deepEqual([owed.size, empty], [0, 1]);
});

test('two servers may issue the same id', () => {
  const owed = createOwed<string>(() => {});
  owed.add('http://a', '1', 'A');
  owed.add('http://b', '1', 'B');
  owed.settle('http://a', '1');
  assert.deepEqual(owed.targets(), ['B']);
});
