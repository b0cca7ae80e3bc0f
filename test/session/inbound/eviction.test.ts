import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Candidate,
  canEvict,
  chooseVictim,
  retryAfterMs,
} from '../../../src/session/inbound/eviction.js';

const NOW = 1_000_000;
const candidate = (idleFor: number, inFlight = 0): Candidate => ({
  idleFor,
  inFlight,
  lastWorkAt: NOW - idleFor,
});

test("R119: the caller's own least recent comes first, however short it has been idle", () => {
  const own = [candidate(20), candidate(10)];
  const all = [candidate(900_000), ...own];
  assert.equal(chooseVictim({ now: NOW, own, all }), own[0]);
});

test('R056: one with something in flight is passed over, however old', () => {
  const own = [candidate(900_000, 1), candidate(10)];
  assert.equal(chooseVictim({ now: NOW, own, all: own }), own[1]);
});

test("R119: another principal's goes only after 300 s idle", () => {
  assert.equal(chooseVictim({ now: NOW, own: [], all: [candidate(299_999)] }), undefined);
  const old = candidate(300_000);
  assert.equal(chooseVictim({ now: NOW, own: [], all: [old, candidate(10)] }), old);
});

test('one whose last work is long ago but that has only just become quiet is not idle', () => {
  const justAnswered = { idleFor: 5, inFlight: 0, lastWorkAt: NOW - 900_000 };
  assert.equal(chooseVictim({ now: NOW, own: [], all: [justAnswered] }), undefined);
});

test('canEvict counts a session once, and stops looking when there are enough', () => {
  const mine = candidate(400_000);
  assert.equal(canEvict({ now: NOW, own: [mine], all: [mine] }, 1), true);
  assert.equal(canEvict({ now: NOW, own: [mine], all: [mine] }, 2), false);
  assert.equal(canEvict({ now: NOW, own: [], all: [] }, 0), true);
  function* endless() {
    yield mine;
    throw new Error('looked too far');
  }
  assert.equal(canEvict({ now: NOW, own: endless(), all: [] }, 1), true);
});

test('Retry-After: when the first one may go, or a reservation runs out; 1 s to 60 s, 10 s where nothing tells', () => {
  const wait = (all: Candidate[], reservationMs?: number) =>
    retryAfterMs({ now: NOW, own: [], all }, reservationMs);
  assert.equal(wait([candidate(280_000)]), 20_000);
  assert.equal(wait([candidate(900_000, 1), candidate(280_000)]), 20_000);
  assert.equal(wait([candidate(280_000)], 5_000), 5_000);
  assert.equal(wait([candidate(10)]), 60_000);
  assert.equal(wait([candidate(10, 1)]), 10_000);
  assert.equal(wait([], 200), 1_000);
});
