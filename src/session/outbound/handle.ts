/**
 * The handle behind which sessions come and go: opened once, re-opened when refused, ended for certain.
 * Owns: running requests, sleeping, draining and closing.
 * Refuses: anything after close began; to know HTTP or JSON-RPC, which its ports bring.
 * docs/lifecycle.md is the specification.
 */
import type { Clock } from '../../clock.js';
import { MooringError } from '../../errors.js';
import type { EndReason } from '../../events.js';
import { createEnder, type EnderPorts } from './ender.js';
import type { Generation, Opened } from './generation.js';
import { createGenerations, type GenerationPorts } from './generations.js';
import { createOpener, type OpenOutcome } from './opener.js';
import type { OpenLimiter } from './open-limiter.js';
import type { Terminator } from './terminator.js';
import { settledWithin, sharedController, untilAborted } from '../waiting.js';
import { createWorkClock, type WorkClock } from '../work-clock.js';

export interface HandlePorts<O extends Opened> extends EnderPorts<O>, GenerationPorts<O> {
  /** Sends `initialize`, not after close began; never rejects. `abandoned`: nobody waits for it any more. */
  open(number: number, closing: AbortSignal, abandoned: AbortSignal): Promise<OpenOutcome<O>>;
  /** The current session has been idle for `idleMs`; `sleep` is what one would do. */
  onIdle(): void;
  /** Close begins: nothing new is to be asked of the server. */
  onClosing(): void;
}

/** Durations are read when they are needed: a reload may change them. */
export interface HandleOptions {
  clock: Clock;
  limiter: OpenLimiter;
  terminator: Terminator;
  /** How errors name the server. */
  server: string;
  readonly openMs: number;
  readonly idleMs: number;
  readonly answerMs: number;
  readonly deleteMs: number;
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
  /** Refuses new work, drains, ends. A later call with `drainMs` 0 hurries the first. Never rejects. */
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

export function createHandle<O extends Opened>(ports: HandlePorts<O>, options: HandleOptions): Handle<O> {
  const { clock, limiter, terminator, server } = options;
  const closing = sharedController();
  const cut = sharedController();
  let sleeping: Promise<void> | undefined;
  let closed: Promise<void> | undefined;
  let ended = false;
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
    send: (number, abandoned) => ports.open(number, closing.signal, abandoned),
    endOrphan: (opened, number) => ender.endOrphan(opened, number, 'closed', options.deleteMs),
  });
  const work = createWorkClock({
    clock,
    get idleMs() {
      return options.idleMs;
    },
    get answerMs() {
      return options.answerMs;
    },
    onIdle: () => {
      if (generations.current?.opened.id !== undefined) ports.onIdle();
    },
  });
  const generations = createGenerations<O>(ports, {
    clock,
    server,
    limiter,
    opener,
    ender,
    closing: closing.signal,
    get deleteMs() {
      return options.deleteMs;
    },
    onBorn: () => work.restart(),
  });

  const runOnce = async <T>(
    attempt: (g: Generation<O>) => Promise<Attempt<T>>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const first = await untilAborted(generations.acquire(), signal);
    const result = await generations.fly(first, attempt);
    if ('value' in result) return result.value;
    if (closing.signal.aborted) throw closedError();
    const next = await untilAborted(generations.after(first, result.refused), signal);
    const second = await generations.fly(next, attempt);
    if ('value' in second) return second.value;
    throw generations.lost(next, second.refused);
  };

  // Tasks are left out: nothing can be asked about them any more, so waiting would bring nothing.
  const busy = (): boolean => work.inFlight('request') + work.inFlight('answer') > 0;
  const noteQuiet = (): void => {
    if (drained !== undefined && !busy()) drained();
  };

  const drain = (drainMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (drainMs <= 0 || !busy()) {
        resolve();
        return;
      }
      const timer = clock.hold(drainMs, resolve);
      drained = () => {
        timer.cancel();
        resolve();
      };
    });

  const closeNow = async (reason: EndReason, { drainMs, deleteMs }: CloseOptions): Promise<void> => {
    closing.abort(closedError());
    generations.current?.apply('retire');
    ports.onClosing();
    await drain(drainMs);
    drained = undefined;
    const generation = generations.detach();
    if (generation !== undefined) ports.onRetired(generation, reason);
    cut.abort(closedError());
    work.stop();
    const deadlineAt = clock.now() + deleteMs;
    const left = (): number => Math.max(0, deadlineAt - clock.now());
    if (generation !== undefined) {
      void ender.end(generation.opened, generation.number, reason, deleteMs);
      generation.apply('terminated');
    }
    // An open that was under way ends by itself now; what it brings is ended as well.
    if (generations.pending !== undefined) await settledWithin(clock, generations.pending, left());
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

  return {
    async open(signal) {
      if (closing.signal.aborted) throw closedError();
      return untilAborted(generations.acquire(), signal);
    },
    run: (key, attempt, signal) => track(key, () => runOnce(attempt, signal)),
    track,
    async runOn(number, send) {
      const generation = generations.find(number);
      return generation === undefined ? undefined : generations.fly(generation, send);
    },
    sleep(reason) {
      if (generations.pending !== undefined || closing.signal.aborted) return sleeping ?? Promise.resolve();
      const generation = generations.detach();
      if (generation === undefined) return sleeping ?? Promise.resolve();
      generation.apply('retire');
      ports.onRetired(generation, reason);
      ports.onForgotten(generation);
      sleeping = ender.end(generation.opened, generation.number, reason, options.deleteMs).then(() => {
        generation.apply('terminated');
        sleeping = undefined;
      });
      generations.holdUntil(sleeping);
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
      return generations.current;
    },
    work,
    get phase() {
      if (ended) return 'ended';
      if (closing.signal.aborted) return 'retiring';
      if (generations.pending !== undefined) return 'opening';
      if (generations.current !== undefined) return 'live';
      return generations.everOpened ? 'dormant' : 'new';
    },
    closing: closing.signal,
    cut: cut.signal,
  };
}
