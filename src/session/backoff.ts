/**
 * Waiting longer after each failure: each delay between half and the whole of base x 2^n, up to a cap.
 * Refuses: to be reset by something that only looks like success (report R028); the owner decides what is real.
 */

export interface BackoffOptions {
  /** Whole of the first delay, ms. */
  baseMs: number;
  /** No delay is longer, ms. */
  capMs: number;
  /** Replaced in tests. @default Math.random */
  random?: () => number;
}

export interface Backoff {
  /** The next delay, ms; each call doubles the one after it. */
  next(): number;
  /** Failures since the last reset. */
  readonly attempts: number;
  reset(): void;
}

export function createBackoff({ baseMs, capMs, random = Math.random }: BackoffOptions): Backoff {
  let attempts = 0;
  return {
    next() {
      // 2^30 x base is beyond every cap; more would overflow to Infinity in the end.
      const whole = Math.min(capMs, baseMs * 2 ** Math.min(attempts, 30));
      attempts += 1;
      return whole / 2 + (random() * whole) / 2;
    },
    get attempts() {
      return attempts;
    },
    reset() {
      attempts = 0;
    },
  };
}
