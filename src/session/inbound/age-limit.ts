/**
 * The hard maximum age of an inbound session, where one is set.
 * Owns: one timer. Refuses: to cut what is in flight; an old session ends at the next quiet look at it.
 */
import type { Clock, Timer } from '../../clock.js';

/** How often a session past its age with something in flight is looked at again. */
const LOOK_AGAIN_MS = 60_000;

export interface AgeLimitOptions {
  clock: Clock;
  /** Infinity: none, and no timer. */
  maxAgeMs: number;
  isBusy: () => boolean;
  /** Runs once. */
  onOld: () => void;
}

export function createAgeLimit({ clock, maxAgeMs, isBusy, onOld }: AgeLimitOptions): Timer {
  const startedAt = clock.now();
  let timer: Timer | undefined;
  const watch = (ms: number): void => {
    timer = clock.after(ms, () => {
      // The longest timer of the clock may be shorter than the age.
      const left = maxAgeMs - (clock.now() - startedAt);
      if (left > 0) watch(left);
      else if (isBusy()) watch(LOOK_AGAIN_MS);
      else onOld();
    });
  };
  if (maxAgeMs !== Number.POSITIVE_INFINITY) watch(maxAgeMs);
  return { cancel: () => timer?.cancel() };
}
