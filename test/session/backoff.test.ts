import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBackoff } from '../../src/session/backoff.js';

test('each delay lies between half and the whole of base x 2^n, and none above the cap', () => {
  for (const [random, share] of [
    [0, 0.5],
    [0.5, 0.75],
    [1, 1],
  ] as const) {
    const backoff = createBackoff({ baseMs: 2_000, capMs: 60_000, random: () => random });
    const wholes = [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000];
    assert.deepEqual(
      wholes.map(() => backoff.next()),
      wholes.map((whole) => whole * share),
    );
    assert.equal(backoff.attempts, 7);
    backoff.reset();
    assert.deepEqual([backoff.attempts, backoff.next()], [0, 2_000 * share]);
  }
});

test('after any number of failures, and with the real randomness, the bounds hold', () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.integer({ min: 1, max: 5_000 }), (failures, baseMs) => {
      const backoff = createBackoff({ baseMs, capMs: 60_000 });
      let whole = baseMs;
      for (let n = 0; n <= failures; n += 1) {
        const delay = backoff.next();
        assert.ok(delay >= whole / 2 && delay <= whole, `${delay} of ${whole}`);
        whole = Math.min(60_000, whole * 2);
      }
    }),
    { numRuns: 30 },
  );
});

test('delays differ: clients that failed together do not come back together', () => {
  const delays = Array.from({ length: 20 }, () => createBackoff({ baseMs: 1_000, capMs: 60_000 }).next());
  assert.ok(new Set(delays).size > 10);
});
