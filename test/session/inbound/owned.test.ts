import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOwned } from '../../../src/session/inbound/owned.js';

function fixture() {
  const log: string[] = [];
  const errors: string[] = [];
  const pending: Promise<void>[] = [];
  const owned = createOwned({
    onError: (error) => errors.push((error as Error).message),
    onPending: (settled) => pending.push(settled),
  });
  return { log, errors, pending, owned };
}

test('every release runs once, last first, also when one throws and one rejects', async () => {
  const { log, errors, pending, owned } = fixture();
  owned.add(() => void log.push('a'));
  owned.add(() => {
    log.push('b');
    throw new Error('b broke');
  });
  owned.add(async () => {
    log.push('c');
    throw new Error('c broke');
  });
  owned.releaseAll();
  owned.releaseAll();
  await Promise.all(pending);
  assert.deepEqual(log, ['c', 'b', 'a']);
  assert.deepEqual(errors, ['b broke', 'c broke']);
});

test('R055: what comes after the end is released on the spot', () => {
  const { log, owned } = fixture();
  owned.releaseAll();
  owned.add(() => void log.push('late'));
  assert.deepEqual(log, ['late']);
});

test('a release that asks for the release again runs nothing twice', () => {
  const { log, owned } = fixture();
  owned.add(() => void log.push('a'));
  owned.add(() => {
    log.push('b');
    owned.releaseAll();
  });
  owned.releaseAll();
  assert.deepEqual(log, ['b', 'a']);
});

test('what is given up is not released, and one function added twice is two resources', () => {
  const { log, owned } = fixture();
  const release = (): void => void log.push('r');
  const giveUp = owned.add(release);
  owned.add(release);
  giveUp();
  owned.releaseAll();
  assert.deepEqual(log, ['r']);
});
