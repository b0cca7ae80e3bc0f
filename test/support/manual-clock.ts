import type { Clock } from '../../src/clock.js';

/** A clock that moves only when told: `advance(ms)` runs the due timers in order. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
  /** The same, and lets everything that is ready run between one timer and the next. */
  advanceStepwise(ms: number): Promise<void>;
  /** Timers that wait. */
  readonly pending: number;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function manualClock(): ManualClock {
  let now = 0;
  let order = 0;
  const timers = new Map<number, { at: number; fn: () => void }>();
  return {
    now: () => now,
    after(ms, fn) {
      const key = ++order;
      timers.set(key, { at: now + Math.max(0, ms), fn });
      return { cancel: () => timers.delete(key) };
    },
    hold(ms, fn) {
      return this.after(ms, fn);
    },
    get pending() {
      return timers.size;
    },
    async advanceStepwise(ms) {
      const until = now + ms;
      await settle();
      while (now < until) {
        const due = Math.min(until, ...[...timers.values()].map(({ at }) => at));
        this.advance(Math.max(0, due - now));
        await settle();
      }
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        let next: { key: number; at: number; fn: () => void } | undefined;
        for (const [key, timer] of timers) {
          if (timer.at <= until && (next === undefined || timer.at < next.at)) next = { key, ...timer };
        }
        if (next === undefined) break;
        timers.delete(next.key);
        now = Math.max(now, next.at);
        next.fn();
      }
      now = until;
    },
  };
}
