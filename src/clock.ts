/**
 * All time in Mooring goes through here: a monotonic now(), timers that never keep a process alive, and timers that
 * do because somebody waits for them.
 * Tests replace it with a manual clock (test/support/manual-clock.ts); nothing else reads the time.
 */

/** A pending timer. */
export interface Timer {
  /** Does nothing the second time. */
  cancel(): void;
}

/** Where a part reads the time and sets its timers. */
export interface Clock {
  /** Milliseconds, monotonic, from an arbitrary start. */
  now(): number;
  /** Runs `fn` once after `ms` milliseconds (at most 2^31-1), without keeping the process alive. */
  after(ms: number, fn: () => void): Timer;
  /** The same for what a caller waits for: the process stays until it fires or is cancelled. */
  hold(ms: number, fn: () => void): Timer;
}

/** Node rejects longer timers by firing them at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, fn) {
    const handle = setTimer(ms, fn);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  hold(ms, fn) {
    const handle = setTimer(ms, fn);
    return { cancel: () => clearTimeout(handle) };
  },
};

function setTimer(ms: number, fn: () => void): NodeJS.Timeout {
  return setTimeout(fn, Math.min(Math.max(0, ms), MAX_TIMER_MS));
}

/** Milliseconds since 1970, for what another machine wrote as a date; durations never come from it. */
export function wallNow(): number {
  return Date.now();
}

/** Resolves after `ms`, or rejects with the signal's reason; holds the process, leaves no timer behind. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.hold(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
