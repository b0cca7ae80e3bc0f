/**
 * When a session counts as idle: the work clock of both sides.
 * Owns: what is in flight (requests, answers owed to the other side, tasks), the last work, one lazy timer.
 * Refuses: to know what a message is; protocol/ says what is work, the owner reports it here.
 * Rule "Work" of docs/lifecycle.md: only work moves the clock, and it stands still while anything is in flight:
 * the time in flight is not idle time, also when what was in flight turns out to be no work.
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
  /** Runs when the session has become idle; again only after new work, or after something was in flight. */
  onIdle: () => void;
}

export interface WorkClock {
  /** Something is in flight from now on; a key that is there already is replaced. `ttlMs` bounds answers and tasks. */
  begin(kind: FlightKind, key: string, ttlMs?: number): void;
  /**
   * It is not any more. False, and nothing else, for unknown keys and those whose time has run out
   * (a late reply never revives anything, report R017).
   */
  end(kind: FlightKind, key: string): boolean;
  /** A request that is work was answered below 400: the idle time starts anew. */
  worked(): void;
  /** A session begins: its idle time starts anew, though nothing was done yet. */
  restart(): void;
  /** `idleMs` has changed: the timer follows. */
  boundsChanged(): void;
  /** Number of things in flight of a kind, or of all. */
  inFlight(kind?: FlightKind): number;
  /** Milliseconds since the last work with nothing in flight. */
  readonly idleFor: number;
  /** clock.now() of the last work, or of the start. */
  readonly lastWorkAt: number;
  /** True once any work was done. */
  readonly hasWorked: boolean;
  /** Cancels the timer and forgets everything; nothing starts it again. */
  stop(): void;
}

export function createWorkClock(options: WorkClockOptions): WorkClock {
  // Bounds are read when they are needed: a reload may change them.
  const { clock, onIdle } = options;
  const requests = new Set<string>();
  const bounded = { answer: new Map<string, number>(), task: new Map<string, number>() };
  let lastWorkAt = clock.now();
  let hasWorked = false;
  let timer: Timer | undefined;
  let stopped = false;
  // Idle time so far, and since when it runs; undefined while it stands still.
  let idleBefore = 0;
  let idleSince: number | undefined = lastWorkAt;

  const count = (): number => requests.size + bounded.answer.size + bounded.task.size;

  /** Forgets what has run out. The clock runs again from the moment the last of it did, not from when we look. */
  const dropExpired = (): void => {
    const now = clock.now();
    let lastExpiry = Number.NEGATIVE_INFINITY;
    for (const map of [bounded.answer, bounded.task]) {
      for (const [key, expiresAt] of map) {
        if (expiresAt > now) continue;
        map.delete(key);
        lastExpiry = Math.max(lastExpiry, expiresAt);
      }
    }
    if (idleSince === undefined && !stopped && count() === 0) idleSince = Math.min(now, lastExpiry);
  };

  const idleFor = (): number => {
    dropExpired();
    return idleBefore + (idleSince === undefined ? 0 : clock.now() - idleSince);
  };

  /** When all answers and tasks have run out, if nobody ends them before. */
  const lastExpiryAhead = (): number =>
    Math.max(clock.now(), ...bounded.answer.values(), ...bounded.task.values());

  // One timer, re-armed only when it fires or when none is pending: work moves a number, not a timer.
  const arm = (): void => {
    if (stopped || timer !== undefined || options.idleMs === Number.POSITIVE_INFINITY) return;
    const remaining = Math.max(0, options.idleMs - idleFor());
    if (requests.size > 0) return;
    const due = lastExpiryAhead() + remaining;
    timer = clock.after(due - clock.now(), () => {
      timer = undefined;
      const idle = idleFor();
      if (requests.size > 0) return;
      if (count() > 0 || idle < options.idleMs) arm();
      else onIdle();
    });
  };

  const rearm = (): void => {
    timer?.cancel();
    timer = undefined;
    arm();
  };

  arm();
  return {
    begin(kind, key, ttlMs = options.answerMs) {
      if (stopped) return;
      idleBefore = idleFor();
      if (kind === 'request') requests.add(key);
      else bounded[kind].set(key, clock.now() + Math.min(ttlMs, options.answerMs));
      idleSince = undefined;
    },
    end(kind, key) {
      if (stopped) return false;
      dropExpired();
      if (!(kind === 'request' ? requests.delete(key) : bounded[kind].delete(key))) return false;
      if (kind !== 'request') {
        // The timer may have been set for when this would have run out.
        timer?.cancel();
        timer = undefined;
      }
      if (count() === 0) idleSince = clock.now();
      if (requests.size === 0) arm();
      return true;
    },
    worked() {
      if (stopped) return;
      dropExpired();
      lastWorkAt = clock.now();
      hasWorked = true;
      idleBefore = 0;
      if (idleSince !== undefined) idleSince = lastWorkAt;
      arm();
    },
    restart() {
      if (stopped) return;
      dropExpired();
      idleBefore = 0;
      if (idleSince !== undefined) idleSince = clock.now();
      rearm();
    },
    boundsChanged: () => rearm(),
    inFlight(kind) {
      dropExpired();
      if (kind === 'request') return requests.size;
      if (kind !== undefined) return bounded[kind].size;
      return count();
    },
    get idleFor() {
      return idleFor();
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
