/** Who is dead, by the name of a file. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  fileName,
  isDead,
  type NamedOwner,
  ownerOfFile,
  placeOf,
  releasedName,
  thisProcess,
  UNTOUCHED_MS,
} from '../../../../src/session/outbound/ledger/owner.js';

const owner = thisProcess();
const me: NamedOwner = { place: placeOf(owner), pid: owner.pid, start: owner.start };
const now = (): number => Date.now();
const longAgo = (): number => Date.now() - UNTOUCHED_MS - 1_000;

it('a name says whose it is, and nothing else is a name', () => {
  assert.deepEqual(ownerOfFile(fileName(me)), me);
  assert.equal(ownerOfFile(releasedName(me))?.start, 'released');
  for (const name of ['principal.key', `${fileName(me)}.tmp`, `${fileName(me)}.garbage`, '../x.jsonl'])
    assert.equal(ownerOfFile(name), undefined);
});

it('this process lives, however long ago it touched its file', () => {
  assert.equal(isDead(me, me.place, now), false);
  assert.equal(isDead(me, me.place, longAgo), false);
});

it('a pid that is gone, or is another process by now, is dead at once', () => {
  assert.equal(isDead({ ...me, pid: 2 ** 22 + 1 }, me.place, now), true);
  if (me.start !== 'unknown') assert.equal(isDead({ ...me, start: '1' }, me.place, now), true);
});

it('elsewhere only time tells', () => {
  const there = { ...me, place: '0123456789ab', pid: 1 };
  assert.equal(isDead(there, me.place, now), false);
  assert.equal(isDead(there, me.place, longAgo), true);
});

it('a file that was let go is anybody’s', () => {
  assert.equal(isDead({ ...me, start: 'released' }, me.place, now), true);
});

it('host, boot and namespace make the place', () => {
  const others = [{ host: 'x' }, { boot: 'x' }, { namespace: 'x' }].map((part) =>
    placeOf({ ...owner, ...part }),
  );
  assert.equal(new Set([placeOf(owner), ...others]).size, 4);
});
