/**
 * Stops one handle from opening session after session that the server refuses at once (report R071).
 * Owns: how many generations in a row were refused within 30 s of birth, and when one try is allowed again.
 * Refuses: to count one generation twice, however many of its requests are refused.
 */
import type { Clock } from '../../clock.js';

/** Refused earlier than this after its birth, ms: young. */
const YOUNG_MS = 30_000;
/** Young generations in a row that make a storm. */
const LIMIT = 2;
/** In a storm one re-open is tried this often, ms. */
const TRY_EVERY_MS = 60_000;

export interface StormGuard {
  /** Generation `number` was refused for the first time, `ageMs` after its birth. */
  refused(number: number, ageMs: number): void;
  /** An open begins. */
  opening(): void;
  /** Milliseconds until the next try, or 0 when one may be made now. */
  waitMs(): number;
}

export function createStormGuard(clock: Clock): StormGuard {
  let inARow = 0;
  let lastCounted = 0;
  let lastOpenAt = Number.NEGATIVE_INFINITY;
  let refusedSince = true;
  return {
    refused(number, ageMs) {
      if (number <= lastCounted) return;
      lastCounted = number;
      refusedSince = true;
      inARow = ageMs < YOUNG_MS ? inARow + 1 : 0;
    },
    opening() {
      // The one before was not refused, and had the time to be: it ends the row.
      if (!refusedSince && clock.now() - lastOpenAt >= YOUNG_MS) inARow = 0;
      refusedSince = false;
      lastOpenAt = clock.now();
    },
    waitMs: () => (inARow < LIMIT ? 0 : Math.max(0, lastOpenAt + TRY_EVERY_MS - clock.now())),
  };
}
