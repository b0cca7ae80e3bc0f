/**
 * The way into the table: a place is reserved before the first await, so that any number of parallel
 * `initialize` never goes above a cap (reports R055, R058).
 * Owns: reservations, their start timers (connect -> body of `initialize` -> its answer), and what was created
 * before there was an id; all of it is given back on every path.
 * Refuses: to evict for a request that may turn out to be none. That happens in `confirm()`, when the body is here.
 */
import type { Clock, Timer } from '../../clock.js';
import { MooringError } from '../../errors.js';
import { type Candidates, canEvict, chooseVictim, retryAfterMs } from './eviction.js';
import { createOwned, type Owned, type OwnedHooks, type Release } from './owned.js';
import { type Refusal, shuttingDown, startGivenUp, tableFull } from './refusal.js';
import type { InboundSession } from './session.js';
import { createTally, type Tally } from './tally.js';

export interface CommitFacts {
  /** The version that `initialize` agreed on. */
  protocolVersion: string;
  /** An id that exists already (a sealed one that comes back); a new one is minted without it. */
  id?: string;
}

/** A place in the table that is not a session yet. Call `release()` in a `finally`: after `commit()` it does nothing. */
export interface Reservation {
  readonly principal: string;
  /** Aborted when it is released without a session: by its owner, its time, or the table's end. */
  readonly signal: AbortSignal;
  /** Released with the reservation, or later with the session. The returned function gives it up unreleased. */
  own(release: Release): () => void;
  /**
   * The body is here and is an `initialize`: makes room, by eviction if need be, before anything is created for it.
   * A refusal releases the reservation.
   */
  confirm(): Refusal | undefined;
  /**
   * `initialize` succeeded: the reservation becomes a session, which owns what it owned.
   * @throws MooringError `MOORING_TABLE_FULL` when it was not confirmed and there is no room;
   *   `MOORING_CLOSED` when it was released before (its time ran out, or the table was closed).
   */
  commit(facts: CommitFacts): InboundSession;
  release(): void;
}

/** Either a place, or the answer to give. */
export type Admission = { reservation: Reservation } | { refusal: Refusal };

export interface AdmissionOptions extends OwnedHooks {
  clock: Clock;
  /** Milliseconds from connect to the body, and again from there to the answer. */
  initializeMs: number;
  maxSessions: number;
  maxPerPrincipal: number;
  /** Sessions in order of their last work; of one principal or of all. */
  sessions: { size(principal?: string): number; inOrder(principal?: string): Iterable<InboundSession> };
  /** An `initialize` was refused for want of room. */
  onRefused: () => void;
  /** Puts the new session into the table. */
  open: (facts: CommitFacts & { principal: string; owned: Owned }) => InboundSession;
}

export interface Admissions {
  reserve(principal: string): Admission;
  readonly size: number;
  /** Releases all reservations and takes none any more. */
  close(): void;
}

interface Place {
  principal: string;
  endsAt: number;
  release: () => void;
}

export function createAdmissions(options: AdmissionOptions): Admissions {
  const { clock, initializeMs, maxSessions, maxPerPrincipal, sessions } = options;
  // In the order in which they run out.
  const places = new Set<Place>();
  const held = createTally();
  const confirmed = createTally();
  let isClosed = false;

  /** How many sessions would have to go for one more of this principal, by either cap, and who may be asked to. */
  const shortages = (principal: string, places: Tally) => {
    const now = clock.now();
    const own = (): Iterable<InboundSession> => sessions.inOrder(principal);
    return [
      {
        missing: sessions.size(principal) + places.of(principal) + 1 - maxPerPrincipal,
        candidates: (): Candidates<InboundSession> => ({ now, own: own(), all: [] }),
      },
      {
        missing: sessions.size() + places.total + 1 - maxSessions,
        candidates: (): Candidates<InboundSession> => ({ now, own: own(), all: sessions.inOrder() }),
      },
    ];
  };

  const refuse = (candidates: Candidates<InboundSession>): Refusal => {
    const [first] = places;
    options.onRefused();
    return tableFull(retryAfterMs(candidates, first && first.endsAt - clock.now()));
  };

  const makeRoom = (principal: string): Refusal | undefined => {
    for (;;) {
      const short = shortages(principal, confirmed).find(({ missing }) => missing > 0);
      if (short === undefined) return undefined;
      const victim = chooseVictim(short.candidates());
      if (victim === undefined) return refuse(short.candidates());
      victim.end('evicted');
    }
  };

  const hold = (principal: string): Reservation => {
    const owned = createOwned(options);
    const abort = new AbortController();
    let timer: Timer;

    const place: Place = { principal, endsAt: 0, release };
    let isConfirmed = false;

    const leave = (): boolean => {
      if (!places.delete(place)) return false;
      timer.cancel();
      held.remove(principal);
      if (isConfirmed) confirmed.remove(principal);
      return true;
    };
    function release(): void {
      if (!leave()) return;
      owned.releaseAll();
      abort.abort(new MooringError('MOORING_CLOSED', 'initialize was given up, or took longer than it may'));
    }
    const startTimer = (): void => {
      place.endsAt = clock.now() + initializeMs;
      timer = clock.after(initializeMs, release);
      places.delete(place);
      places.add(place);
    };

    held.add(principal);
    startTimer();

    const confirm = (): Refusal | undefined => {
      if (!places.has(place)) return isClosed ? shuttingDown() : startGivenUp();
      if (isConfirmed) return undefined;
      const refusal = makeRoom(principal);
      if (refusal !== undefined) {
        release();
        return refusal;
      }
      // What an evicted session released may have closed the table.
      if (!places.has(place)) return shuttingDown();
      isConfirmed = true;
      confirmed.add(principal);
      timer.cancel();
      startTimer();
      return undefined;
    };

    return {
      principal,
      signal: abort.signal,
      own: (resource) => owned.add(resource),
      confirm,
      commit(facts) {
        const refusal = confirm();
        if (refusal !== undefined) {
          throw new MooringError(
            refusal.code,
            'there is no place for this session; release what was made for it',
          );
        }
        const session = options.open({ ...facts, principal, owned });
        leave();
        return session;
      },
      release,
    };
  };

  return {
    reserve(principal) {
      if (isClosed) return { refusal: shuttingDown() };
      for (const { missing, candidates } of shortages(principal, held)) {
        if (!canEvict(candidates(), missing)) return { refusal: refuse(candidates()) };
      }
      return { reservation: hold(principal) };
    },
    get size() {
      return places.size;
    },
    close() {
      isClosed = true;
      for (const place of [...places]) place.release();
    },
  };
}
