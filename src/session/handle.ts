/**
 * The handle behind which sessions come and go: opened once, re-opened when refused, ended for certain.
 * Owns: the current generation, the one shared re-open, draining and closing.
 * Refuses: anything after close began; to know HTTP or JSON-RPC, which its ports bring.
 * docs/lifecycle.md is the specification.
 */
import type { Clock } from '../clock.js';
import { MooringError } from '../errors.js';
import type { EndReason } from '../events.js';
import { createEnder, type EnderPorts } from './ender.js';
import { createGeneration, type Generation, type Opened } from './generation.js';
import { createOpener, type OpenOutcome } from './opener.js';
import type { OpenLimiter } from './open-limiter.js';
import { createStormGuard } from './storm-guard.js';
import type { Terminator } from './terminator.js';
import { settledWithin, untilAborted } from './waiting.js';
import { createWorkClock, type WorkClock } from './work-clock.js';

/** Why a generation came to be. */
export type OpenKind = 'first' | 'reopened' | 'woken';

export interface HandlePorts<O extends Opened> extends EnderPorts<O> {
  /** Sends `initialize`; never rejects. */
  open(number: number): Promise<OpenOutcome<O>>;
  /** Makes a re-opened or woken generation ready: `initialized`, log level, subscriptions. */
  restore(generation: Generation<O>, signal: AbortSignal): Promise<void>;
  onOpened(generation: Generation<O>, kind: OpenKind): void;
  /** The generation is current no more; nothing new will be sent on it. */
  onRetired(generation: Generation<O>, reason: EndReason): void;
  /** Nothing runs on a lost generation any more: answers that it waits for can be dropped. */
  onForgotten(generation: Generation<O>): void;
  /** The current session has been idle for `idleMs`; `sleep` is what one would do. */
  onIdle(): void;
}

export interface HandleOptions {
  clock: Clock;
  limiter: OpenLimiter;
  terminator: Terminator;
  /** How errors name the server. */
  server: string;
  openMs: number;
  idleMs: number;
  answerMs: number;
  deleteMs: number;
}

/** What one attempt to send on a generation came to. */
export type Attempt<T> = { value: T } | { refused: number };

export interface CloseOptions {
  /** Milliseconds that requests in flight may still take. */
  drainMs: number;
  /** Milliseconds for everything that has to be told to the server. */
  deleteMs: number;
}

export interface Handle<O extends Opened> {
  /** Opens the first generation; or waits for the one that is being opened. */
  open(signal?: AbortSignal): Promise<Generation<O>>;
  /**
   * Runs one request on the current generation; when that is refused, once more on its successor.
   * Rejects with MOORING_CLOSED, MOORING_OPEN_FAILED, MOORING_REOPEN_STORM, MOORING_SESSION_LOST,
   * or whatever the attempt rejects with.
   */
  run<T>(key: string, attempt: (g: Generation<O>) => Promise<Attempt<T>>, signal?: AbortSignal): Promise<T>;
  /** Runs something that needs no session, but that closing waits for. */
  track<T>(key: string, send: () => Promise<T>): Promise<T>;
  /** Runs something that belongs to one generation; undefined when that one is gone. */
  runOn<T>(number: number, send: (g: Generation<O>) => Promise<T>): Promise<T | undefined>;
  /** Ends the session for now; the next request opens another. */
  sleep(reason: EndReason): Promise<void>;
  /** Refuses new work, drains, ends. A later call with a shorter `drainMs` hurries the first. Never rejects. */
  close(reason: EndReason, options: CloseOptions): Promise<void>;
  /** The host answered a request of the server's. */
  answered(key: string): void;
  readonly current: Generation<O> | undefined;
  readonly work: WorkClock;
  readonly phase: 'new' | 'opening' | 'live' | 'dormant' | 'retiring' | 'ended';
  /** Aborted with MOORING_CLOSED when close begins. */
  readonly closing: AbortSignal;
  /** Aborted with MOORING_CLOSED when requests still in flight are cut off. */
  readonly cut: AbortSignal;
}

/** A session whose successor died younger than this may be alive after all, ms. */
const SUCCESSOR_YOUNG_MS = 30_000;

export function createHandle<O extends Opened>(ports: HandlePorts<O>, options: HandleOptions): Handle<O> {
  const { clock, limiter, terminator, server } = options;
  const storm = createStormGuard(clock);
  const closing = new AbortController();
  const cut = new AbortController();
  const older = new Map<number, Generation<O>>();
  let current: Generation<O> | undefined;
  let pending: Promise<Generation<O>> | undefined;
  let sleeping: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  let ended = false;
  let everOpened = false;
  let drained: (() => void) | undefined;

  const closedError = (): MooringError =>
    new MooringError('MOORING_CLOSED', `the session with ${server} was closed; open a new one`, { server });

  const ender = createEnder<O>(ports, { clock, limiter, terminator });

  const opener = createOpener<O>({
    clock,
    limiter,
    get openMs() {
      return options.openMs;
    },
    send: (number) => {
      storm.opening();
      return ports.open(number);
    },
    endOrphan: (opened, number) => ender.end(opened, number, 'closed', options.deleteMs),
  });

  const work = createWorkClock({
    clock,
    get idleMs() {
      return options.idleMs;
    },
    answerMs: options.answerMs,
    onIdle: () => {
      if (current?.opened.id !== undefined) ports.onIdle();
    },
  });

  const forgetWhenQuiet = (generation: Generation<O>): void => {
    if (generation.flights > 0) return;
    if (older.delete(generation.number)) ports.onForgotten(generation);
  };

  /** The server does not know `lost` any more, and its successor stands. */
  const replace = (lost: Generation<O>, successor: Generation<O>): void => {
    lost.apply('expired');
    successor.predecessor = lost;
    older.set(lost.number, lost);
    ports.onRetired(lost, 'expired');
    // A 404 is the end of it. After a 400 or 401 it may live on: one DELETE, without insisting.
    if (lost.refusedWith === 404) limiter.ended();
    else void ender.endOnce(lost.opened, lost.number, 'expired', options.deleteMs);
    forgetWhenQuiet(lost);
  };

  const openGeneration = async (kind: OpenKind, lost?: Generation<O>): Promise<Generation<O>> => {
    if (sleeping !== undefined) await sleeping;
    closing.signal.throwIfAborted();
    const { number, opened } = await opener.open(closing.signal);
    const generation = createGeneration(number, opened, clock.now());
    generation.apply('opened');
    everOpened = true;
    if (kind !== 'first' || closing.signal.aborted) {
      try {
        closing.signal.throwIfAborted();
        await ports.restore(generation, closing.signal);
        closing.signal.throwIfAborted();
      } catch (error) {
        generation.apply('retire');
        generation.apply('terminated');
        storm.refused(number, clock.now() - generation.bornAt);
        void ender.end(opened, number, closing.signal.aborted ? 'closed' : 'error', options.deleteMs);
        throw error;
      }
    }
    current = generation;
    if (lost !== undefined) replace(lost, generation);
    ports.onOpened(generation, kind);
    return generation;
  };

  const share = (kind: OpenKind, lost?: Generation<O>): Promise<Generation<O>> => {
    pending ??= openGeneration(kind, lost).finally(() => {
      pending = undefined;
    });
    return pending;
  };

  const reopenAfter = async (refused: Generation<O>, status: number): Promise<Generation<O>> => {
    if (current !== undefined && current !== refused) return pending ?? current;
    if (pending !== undefined) return pending;
    if (current === undefined) return share('woken');
    const ageMs = clock.now() - refused.bornAt;
    refused.refusedWith ??= status;
    storm.refused(refused.number, ageMs);
    endPredecessor(refused, ageMs);
    const waitMs = storm.waitMs();
    if (waitMs > 0) {
      throw new MooringError(
        'MOORING_REOPEN_STORM',
        `${server} refuses each new session at once. Either it has no session affinity (several replicas, ` +
          'each with a memory of its own: pin Mcp-Session-Id to one), or two clients with one account evict ' +
          `each other's sessions (raise its cap). Next try in ${Math.ceil(waitMs / 1000)} s`,
        { server, generation: refused.number, httpStatus: status, retryAfterMs: waitMs },
      );
    }
    return share('reopened', refused);
  };

  const endPredecessor = (refused: Generation<O>, ageMs: number): void => {
    const before = refused.predecessor;
    refused.predecessor = undefined;
    if (before?.opened.id === undefined || ageMs >= SUCCESSOR_YOUNG_MS) return;
    void ender.endOnce(before.opened, before.number, 'expired', options.deleteMs);
  };

  const acquire = (): Promise<Generation<O>> | Generation<O> => {
    if (closing.signal.aborted) throw closedError();
    if (pending !== undefined) return pending;
    if (current !== undefined) return current;
    return share(everOpened ? 'woken' : 'first');
  };

  const fly = async <T>(generation: Generation<O>, send: (g: Generation<O>) => Promise<T>): Promise<T> => {
    generation.flights += 1;
    try {
      return await send(generation);
    } finally {
      generation.flights -= 1;
      if (older.has(generation.number)) forgetWhenQuiet(generation);
    }
  };

  const runCounted = async <T>(
    attempt: (g: Generation<O>) => Promise<Attempt<T>>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const first = await untilAborted(Promise.resolve(acquire()), signal);
    const result = await fly(first, attempt);
    if ('value' in result) return result.value;
    if (closing.signal.aborted) throw closedError();
    const next = await untilAborted(reopenAfter(first, result.refused), signal);
    const second = await fly(next, attempt);
    if ('value' in second) return second.value;
    next.refusedWith ??= second.refused;
    storm.refused(next.number, clock.now() - next.bornAt);
    throw new MooringError(
      'MOORING_SESSION_LOST',
      `${server} refused the session again right after it was re-opened (HTTP ${second.refused}); ` +
        'check that requests of one session reach one replica',
      { server, generation: next.number, httpStatus: second.refused },
    );
  };

  const busy = (): boolean => work.inFlight('request') + work.inFlight('answer') > 0;
  const noteQuiet = (): void => {
    if (drained !== undefined && !busy()) drained();
  };

  const closeNow = async (reason: EndReason, { drainMs, deleteMs }: CloseOptions): Promise<void> => {
    closing.abort(closedError());
    const generation = current;
    generation?.apply('retire');
    if (drainMs > 0 && busy()) {
      await new Promise<void>((resolve) => {
        const timer = clock.after(drainMs, resolve);
        drained = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    drained = undefined;
    if (generation !== undefined) ports.onRetired(generation, reason);
    cut.abort(closedError());
    work.stop();
    current = undefined;
    const deadlineAt = clock.now() + deleteMs;
    const left = (): number => Math.max(0, deadlineAt - clock.now());
    if (generation !== undefined) {
      void ender.end(generation.opened, generation.number, reason, deleteMs);
      generation.apply('terminated');
    }
    // An open that was under way ends by itself now; what it brings is ended as well.
    if (pending !== undefined) await settledWithin(clock, pending, left());
    await opener.quiet(left());
    await ender.quiet(left());
    ended = true;
  };

  const track = async <T>(key: string, send: () => Promise<T>): Promise<T> => {
    if (closing.signal.aborted) throw closedError();
    work.begin('request', key);
    try {
      return await send();
    } finally {
      work.end('request', key);
      noteQuiet();
    }
  };

  const handle: Handle<O> = {
    async open(signal) {
      return untilAborted(Promise.resolve(acquire()), signal);
    },
    run: (key, attempt, signal) => track(key, () => runCounted(attempt, signal)),
    track,
    async runOn(number, send) {
      const generation = current?.number === number ? current : older.get(number);
      return generation === undefined ? undefined : fly(generation, send);
    },
    sleep(reason) {
      const generation = current;
      if (generation === undefined || pending !== undefined || closing.signal.aborted) {
        return sleeping ?? Promise.resolve();
      }
      current = undefined;
      generation.apply('retire');
      ports.onRetired(generation, reason);
      ports.onForgotten(generation);
      sleeping = ender.end(generation.opened, generation.number, reason, options.deleteMs).then(() => {
        generation.apply('terminated');
        sleeping = undefined;
      });
      return sleeping;
    },
    close(reason, closeOptions) {
      if (closed === undefined) closed = closeNow(reason, closeOptions);
      else if (closeOptions.drainMs === 0) drained?.();
      return closed;
    },
    answered(key) {
      work.end('answer', key);
      noteQuiet();
    },
    get current() {
      return current;
    },
    work,
    get phase() {
      if (ended) return 'ended';
      if (closing.signal.aborted) return 'retiring';
      if (pending !== undefined) return 'opening';
      if (current !== undefined) return 'live';
      return everOpened ? 'dormant' : 'new';
    },
    closing: closing.signal,
    cut: cut.signal,
  };
  return handle;
}
