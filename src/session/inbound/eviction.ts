/**
 * Which session has to go when the table is full; pure.
 * Owns: the order (the caller's own least recently working one, then the globally least recent that has been idle
 * for 300 s) and how long a refused caller should wait.
 * Refuses: anything with something in flight; and age, pings and open streams as an argument: only work counts
 * (reports R056, R118, R119).
 */

/** Milliseconds a session must have been idle before another principal may push it out. */
export const EVICT_OTHERS_AFTER_MS = 300_000;
/** Retry-After when nothing tells better: everything is in flight. */
const RETRY_AFTER_BUSY_MS = 10_000;
/** Longest Retry-After that is sent. */
const RETRY_AFTER_MAX_MS = 60_000;

/** What the policy looks at. */
export interface Candidate {
  readonly inFlight: number;
  /** Milliseconds since its last work with nothing in flight. */
  readonly idleFor: number;
  /** clock.now() of its last work. */
  readonly lastWorkAt: number;
}

/** Sessions in order of their last work, least recent first. */
export interface Candidates<C extends Candidate> {
  now: number;
  own: Iterable<C>;
  /** Everybody's; empty when it is the caller's own cap that is reached. */
  all: Iterable<C>;
}

/** Those that may go, in the order in which they would; some may come twice. */
function* evictable<C extends Candidate>({ now, own, all }: Candidates<C>): Generator<C> {
  for (const candidate of own) if (candidate.inFlight === 0) yield candidate;
  for (const candidate of all) {
    // Nobody further on has been idle for longer than this.
    if (now - candidate.lastWorkAt < EVICT_OTHERS_AFTER_MS) return;
    if (candidate.inFlight === 0 && candidate.idleFor >= EVICT_OTHERS_AFTER_MS) yield candidate;
  }
}

/** The session to evict, or undefined when none may be. */
export function chooseVictim<C extends Candidate>(candidates: Candidates<C>): C | undefined {
  for (const candidate of evictable(candidates)) return candidate;
  return undefined;
}

/** True when `wanted` sessions could be evicted now; looks no further than that. */
export function canEvict<C extends Candidate>(candidates: Candidates<C>, wanted: number): boolean {
  if (wanted <= 0) return true;
  const found = new Set<C>();
  for (const candidate of evictable(candidates)) {
    if (found.add(candidate).size >= wanted) return true;
  }
  return false;
}

/**
 * When a refused caller should come back: when the first quiet session will have been idle long enough, or when
 * the first reservation runs out, whichever is sooner.
 */
export function retryAfterMs<C extends Candidate>(
  { all }: Candidates<C>,
  reservationEndsInMs: number | undefined,
): number {
  let wait = reservationEndsInMs;
  for (const candidate of all) {
    if (candidate.inFlight > 0) continue;
    // In order of last work, so the first quiet one is (nearly) the one that is idle the longest.
    const due = EVICT_OTHERS_AFTER_MS - candidate.idleFor;
    wait = Math.min(wait ?? due, due);
    break;
  }
  return Math.min(Math.max(1_000, wait ?? RETRY_AFTER_BUSY_MS), RETRY_AFTER_MAX_MS);
}
