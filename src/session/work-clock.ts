/**
 * When a session counts as idle: the work clock of both sides.
 * Owns: what is in flight (requests, answers owed to the other side, tasks), the last work, one lazy timer.
 * Refuses: to know what a message is; protocol/ says what is work, the owner reports it here.
 * Rule "Work" of docs/lifecycle.md: only work moves the clock, and it stands still while anything is in flight.
 */
import type { Clock, Timer } from '../clock.js';

/** What keeps the clock standing: a request without its final response, an answer owed, a task not terminal. */
export type FlightKind = 'request' | 'answer' | 'task';

export interface WorkClockOptions {
  clock: Clock;
  /** Milliseconds without work, with nothing in flight, after which `onIdle` runs. Infinity: never. */
  idleMs: number;
  /** Milliseconds that an answer owed, or a task without a ttl, may hold the clock. */
  answerMs: number;
  /** Runs once each time the session has become idle; again only after new work. */
  onIdle: () => void;
}

export interface WorkClock {
  /** Something is in flight from now on; a key that is there already is replaced. `ttlMs` bounds answers and tasks. */
  begin(kind: FlightKind, key: string, ttlMs?: number): void;
  /** It is not any more; unknown keys are ignored (a late reply never revives anything, report R017). */
  end(kind: FlightKind, key: string): void;
  /** A request that is work was answered below 400: the idle time starts anew. */
  worked(): void;
  /** Number of things in flight of a kind, or of all. */
  inFlight(kind?: FlightKind): number;
  /** clock.now() of the last work, or of the start. */
  readonly lastWorkAt: number;
  /** True once any work was done. */
  readonly hasWorked: boolean;
  /** Cancels the timer and forgets everything; nothing starts it again. */
  stop(): void;
}

export function createWorkClock(options: WorkClockOptions): WorkClock {
  const { clock, idleMs, answerMs, onIdle } = options;
  const requests = new Set<string>();
  const bounded = { answer: new Map<string, number>(), task: new Map<string, number>() };
  let lastWorkAt = clock.now();
  let hasWorked = false;
  let timer: Timer | undefined;
  let stopped = false;

  const dropExpired = (): number => {
    const now = clock.now();
    let nextExpiry = Number.POSITIVE_INFINITY;
    for (const map of [bounded.answer, bounded.task]) {
      for (const [key, expiresAt] of map) {
        if (expiresAt <= now) map.delete(key);
        else nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    }
    return nextExpiry;
  };

  // One timer, re-armed only when it fires or when none is pending: work moves a number, not a timer.
  const arm = (): void => {
    if (stopped || timer !== undefined || idleMs === Number.POSITIVE_INFINITY) return;
    const nextExpiry = dropExpired();
    if (requests.size > 0) return;
    const now = clock.now();
    const held = bounded.answer.size + bounded.task.size > 0;
    const due = held ? Math.max(nextExpiry, lastWorkAt + idleMs) : lastWorkAt + idleMs;
    timer = clock.after(Math.max(0, due - now), () => {
      timer = undefined;
      dropExpired();
      if (requests.size > 0) return;
      if (bounded.answer.size + bounded.task.size > 0 || clock.now() < lastWorkAt + idleMs) arm();
      else onIdle();
    });
  };

  arm();
  return {
    begin(kind, key, ttlMs = answerMs) {
      if (stopped) return;
      if (kind === 'request') requests.add(key);
      else bounded[kind].set(key, clock.now() + Math.min(ttlMs, answerMs));
    },
    end(kind, key) {
      if (stopped) return;
      if (kind === 'request') requests.delete(key);
      else if (bounded[kind].delete(key)) {
        // The timer may have been set for when this would have run out.
        timer?.cancel();
        timer = undefined;
      }
      if (requests.size === 0) arm();
    },
    worked() {
      if (stopped) return;
      lastWorkAt = clock.now();
      hasWorked = true;
      arm();
    },
    inFlight(kind) {
      dropExpired();
      if (kind === 'request') return requests.size;
      if (kind !== undefined) return bounded[kind].size;
      return requests.size + bounded.answer.size + bounded.task.size;
    },
    get lastWorkAt() {
      return lastWorkAt;
    },
    get hasWorked() {
      return hasWorked;
    },
    stop() {
      stopped = true;
      timer?.cancel();
      timer = undefined;
      requests.clear();
      bounded.answer.clear();
      bounded.task.clear();
    },
  };
}
