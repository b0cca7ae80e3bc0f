import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStormGuard } from '../../../src/session/outbound/storm-guard.js';
import { manualClock } from '../../support/manual-clock.js';
import { verifies } from '../../requirements.js';

test('R071: two generations in a row refused within 30 s of birth make a storm; one try every 60 s', () => {
  verifies('refused/storm-guard');
  const clock = manualClock();
  const storm = createStormGuard(clock);
  storm.opening();
  storm.refused(1, 29_999);
  assert.equal(storm.waitMs(), 0, 'one alone is none');
  storm.opening();
  clock.advance(1_000);
  storm.refused(2, 1_000);
  assert.equal(storm.waitMs(), 59_000, '60 s from the last open on');
  clock.advance(58_999);
  assert.equal(storm.waitMs(), 1);
  clock.advance(1);
  assert.equal(storm.waitMs(), 0, 'one try');
  storm.opening();
  assert.equal(storm.waitMs(), 60_000, 'and no second one');
  storm.refused(3, 10);
  assert.equal(storm.waitMs(), 60_000);
});

test('one generation counts once, however many of its requests are refused', () => {
  const clock = manualClock();
  const storm = createStormGuard(clock);
  storm.opening();
  for (let n = 0; n < 20; n += 1) storm.refused(1, 100 + n);
  assert.equal(storm.waitMs(), 0);
});

test('a late refusal of an older generation counts for nothing', () => {
  const clock = manualClock();
  const storm = createStormGuard(clock);
  storm.opening();
  storm.refused(2, 100);
  storm.refused(1, 100);
  assert.equal(storm.waitMs(), 0);
  storm.opening();
  storm.refused(3, 100);
  storm.refused(2, 60_000);
  assert.equal(storm.waitMs(), 60_000, 'nor does it end a storm');
});

test('a generation that grew old ends the row', () => {
  const clock = manualClock();
  const storm = createStormGuard(clock);
  storm.opening();
  storm.refused(1, 100);
  storm.opening();
  clock.advance(30_000);
  storm.refused(2, 30_000);
  storm.opening();
  storm.refused(3, 100);
  assert.equal(storm.waitMs(), 0);
});

test('a generation that lived and was never refused ends the row too', () => {
  const clock = manualClock();
  const storm = createStormGuard(clock);
  storm.opening();
  storm.refused(1, 100);
  storm.opening();
  // The second one works for an hour, is put to sleep, and a third is opened for the next call.
  clock.advance(3_600_000);
  storm.opening();
  storm.refused(3, 100);
  assert.equal(storm.waitMs(), 0);
});
