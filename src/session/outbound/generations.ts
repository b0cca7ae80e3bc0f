/**
 * The generations of one handle: which is current, the one shared open or re-open, older ones with requests on them.
 * Owns: rule "Refused" as far as sessions go: one re-open for all, late refusals change nothing, storms end in an error.
 * Refuses: to open anything after close began; to end what is current (handle.ts does).
 */
import type { Clock } from '../../clock.js';
import { isMooringError, MooringError } from '../../errors.js';
import type { EndReason } from '../../events.js';
import type { Ender } from './ender.js';
import { createGeneration, type Generation, type Opened } from './generation.js';
import type { OpenLimiter } from './open-limiter.js';
import type { Opener } from './opener.js';
import { createStormGuard } from './storm-guard.js';

/** Why a generation came to be. */
export type OpenKind = 'first' | 'reopened' | 'woken';

export interface GenerationPorts<O extends Opened> {
  /** Makes a re-opened or woken generation ready: `initialized`, log level, subscriptions. */
  restore(generation: Generation<O>, signal: AbortSignal): Promise<void>;
  onOpened(generation: Generation<O>, kind: OpenKind): void;
  /** The generation is current no more; nothing new will be sent on it. */
  onRetired(generation: Generation<O>, reason: EndReason): void;
  /** Nothing runs on a lost generation any more: answers that it waits for can be dropped. */
  onForgotten(generation: Generation<O>): void;
}

export interface GenerationsOptions<O extends Opened> {
  clock: Clock;
  /** How errors name the server. */
  server: string;
  limiter: OpenLimiter;
  opener: Opener<O>;
  ender: Ender<O>;
  /** Aborted when close begins. */
  closing: AbortSignal;
  readonly deleteMs: number;
  /** A generation begins. */
  onBorn(): void;
}

export interface Generations<O extends Opened> {
  readonly current: Generation<O> | undefined;
  /** The open or re-open that is under way. */
  readonly pending: Promise<Generation<O>> | undefined;
  readonly everOpened: boolean;
  /** The current generation, or the one that is being opened, or a new one. */
  acquire(): Promise<Generation<O>>;
  /** The successor of a generation that refused a request with this status. */
  after(refused: Generation<O>, status: number): Promise<Generation<O>>;
  /** The error of a request that the successor refused as well. */
  lost(generation: Generation<O>, status: number): MooringError;
  /** Counts a request on a generation while it runs. */
  fly<T>(generation: Generation<O>, send: (g: Generation<O>) => Promise<T>): Promise<T>;
  /** A generation that still counts, by number. */
  find(number: number): Generation<O> | undefined;
  /** Takes the current one off, to be ended; `gone` holds back the next open. */
  detach(): Generation<O> | undefined;
  holdUntil(gone: Promise<void>): void;
}

/** A session whose successor died younger than this may be alive after all, ms. */
const SUCCESSOR_YOUNG_MS = 30_000;

export function createGenerations<O extends Opened>(
  ports: GenerationPorts<O>,
  options: GenerationsOptions<O>,
): Generations<O> {
  const { clock, server, limiter, opener, ender, closing } = options;
  const storm = createStormGuard(clock);
  const older = new Map<number, Generation<O>>();
  let current: Generation<O> | undefined;
  let pending: Promise<Generation<O>> | undefined;
  let leaving: Promise<void> | undefined;
  let everOpened = false;

  const forgetWhenQuiet = (generation: Generation<O>): void => {
    if (generation.flights > 0) return;
    if (older.delete(generation.number)) ports.onForgotten(generation);
  };

  /** Notes that a generation was refused; the server itself says that the session is no more. */
  const noteRefusal = (generation: Generation<O>, status: number): void => {
    if (generation.refusedWith === undefined) limiter.ended();
    generation.refusedWith ??= status;
    const ageMs = clock.now() - generation.bornAt;
    storm.refused(generation.number, ageMs);
    const before = generation.predecessor;
    generation.predecessor = undefined;
    if (before?.opened.id === undefined || ageMs >= SUCCESSOR_YOUNG_MS) return;
    void ender.endDisowned(before.opened, before.number, 'expired', options.deleteMs);
  };

  /** The server does not know `lost` any more, and its successor stands. */
  const replace = (lost: Generation<O>, successor: Generation<O>): void => {
    lost.apply('expired');
    successor.predecessor = lost;
    older.set(lost.number, lost);
    ports.onRetired(lost, 'expired');
    // A 404 is the end of it. After a 400 or 401 it may live on: one DELETE, without insisting.
    if (lost.refusedWith !== 404) {
      void ender.endDisowned(lost.opened, lost.number, 'expired', options.deleteMs);
    }
    forgetWhenQuiet(lost);
  };

  /** Makes a generation ready, or ends it: one that was opened in vain is nobody's. */
  const restore = async (generation: Generation<O>): Promise<void> => {
    try {
      closing.throwIfAborted();
      await ports.restore(generation, closing);
      closing.throwIfAborted();
    } catch (error) {
      generation.apply('retire');
      generation.apply('terminated');
      if (isMooringError(error) && error.code === 'MOORING_SESSION_LOST') {
        storm.refused(generation.number, clock.now() - generation.bornAt);
      }
      const reason = closing.aborted ? 'closed' : 'error';
      void ender.end(generation.opened, generation.number, reason, options.deleteMs);
      throw error;
    }
  };

  const openOne = async (kind: OpenKind, lost: Generation<O> | undefined): Promise<Generation<O>> => {
    if (leaving !== undefined) await leaving;
    closing.throwIfAborted();
    storm.opening();
    const { number, opened } = await opener.open(closing);
    const generation = createGeneration(number, opened, clock.now());
    generation.apply('opened');
    everOpened = true;
    if (kind !== 'first' || closing.aborted) await restore(generation);
    current = generation;
    options.onBorn();
    if (lost !== undefined) replace(lost, generation);
    ports.onOpened(generation, kind);
    return generation;
  };

  const share = (kind: OpenKind, lost?: Generation<O>): Promise<Generation<O>> => {
    if (pending !== undefined) return pending;
    const waitMs = storm.waitMs();
    if (waitMs > 0) return Promise.reject(stormy(lost, waitMs));
    pending = openOne(kind, lost).finally(() => {
      pending = undefined;
    });
    return pending;
  };

  const stormy = (lost: Generation<O> | undefined, waitMs: number): MooringError =>
    new MooringError(
      'MOORING_REOPEN_STORM',
      `${server} refused two sessions in a row within 30 s of their birth. If it was not just restarted twice, ` +
        'either it has no session affinity (several replicas, each with a memory of its own: pin Mcp-Session-Id ' +
        "to one), or two clients with one account evict each other's sessions (raise its cap). " +
        `Next try in ${Math.ceil(waitMs / 1000)} s; a new transport or scope may try at once`,
      {
        server,
        retryAfterMs: Math.ceil(waitMs),
        ...(lost === undefined ? {} : { generation: lost.number }),
        ...(lost?.refusedWith === undefined ? {} : { httpStatus: lost.refusedWith }),
      },
    );

  return {
    get current() {
      return current;
    },
    get pending() {
      return pending;
    },
    get everOpened() {
      return everOpened;
    },
    async acquire() {
      return pending ?? current ?? share(everOpened ? 'woken' : 'first');
    },
    async after(refused, status) {
      // A late refusal of an older generation says nothing of the current one (report R040).
      if (current !== undefined && current !== refused) return pending ?? current;
      if (pending !== undefined) return pending;
      if (current === undefined) return share('woken');
      noteRefusal(refused, status);
      return share('reopened', refused);
    },
    lost(generation, status) {
      noteRefusal(generation, status);
      return new MooringError(
        'MOORING_SESSION_LOST',
        `${server} refused the session again right after it was re-opened (HTTP ${status}); ` +
          'check that requests of one session reach one replica',
        { server, generation: generation.number, httpStatus: status },
      );
    },
    async fly(generation, send) {
      generation.flights += 1;
      try {
        return await send(generation);
      } finally {
        generation.flights -= 1;
        if (older.has(generation.number)) forgetWhenQuiet(generation);
      }
    },
    find: (number) => (current?.number === number ? current : older.get(number)),
    detach() {
      const generation = current;
      current = undefined;
      return generation;
    },
    holdUntil(gone) {
      const mine = gone.finally(() => {
        if (leaving === mine) leaving = undefined;
      });
      leaving = mine;
    },
  };
}
