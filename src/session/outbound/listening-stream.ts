/**
 * The listening stream of one outbound session: when to ask for it, when to give up, when to let go.
 * Owns: its own state and timers only (rule "Listening stream"); bound to one generation at a time.
 * Refuses: to touch the POST side: whatever happens here, calls go on (reports R019, R023, R025, R028, R032).
 */
import type { Clock, Timer } from '../../clock.js';
import { meaningOfListen } from '../../protocol/meaning.js';
import { createBackoff } from '../backoff.js';
import type { ServerMemory } from './server-memory.js';
import { createStarvationWatch, type PostWatch } from './starvation.js';

export type ListenMode = 'off' | 'active' | 'always';

/** What a GET was answered with. `read` settles when the stream has ended: resolved cleanly, rejected when cut. */
export interface ListenAnswer {
  status: number;
  isEventStream: boolean;
  retryAfterMs?: number;
  /** `onEvent`: a message came. `onRetry`: the server's own delay, ms. `onId`: last event id. */
  read(handlers: {
    onEvent: () => void;
    onId: (id: string) => void;
    onRetry: (ms: number) => void;
  }): Promise<void>;
}

export interface ListeningStreamOptions {
  clock: Clock;
  mode: ListenMode;
  streamIdleMs: number;
  memory: ServerMemory;
  /** Sends the GET; rejects when there was no answer. Credentials are the port's to fetch and to refresh. */
  connect(request: { lastEventId: string | undefined; signal: AbortSignal }): Promise<ListenAnswer>;
  /** A stream that had worked is answered 404: the port sends one ping; true when the session still lives. */
  confirm(): Promise<boolean>;
  /** False: nobody would hear what it brings. @default true */
  isHeard?(): boolean;
  /** The server waits for the host to answer a request of its own. */
  isHostAsked(): boolean;
  onOpen(): void;
  onClose(reason: string, durationMs: number): void;
  random?: () => number;
}

export type ListenState = 'closed' | 'connecting' | 'open' | 'waiting' | 'not-offered';

export interface ListeningStream {
  /** Work has begun. */
  workBegan(): void;
  /** Nothing is in flight any more. */
  workEnded(): void;
  /** Resolves when the stream is open, cannot be had now, or `maxMs` has passed. */
  settled(maxMs: number): Promise<void>;
  /** A POST was sent and waits for its headers. */
  postSent(): PostWatch;
  /** A generation is live from now on: forget the old one's stream and last event id (report R079). */
  bind(): void;
  /** It is not any more, and no other yet: close, and ask for nothing. */
  unbind(reason: string): void;
  /** Somebody hears from now on; see `isHeard`. */
  heard(): void;
  /** No further stream is asked for; one that is open stays, for what is still in flight. */
  seal(): void;
  /** Cancels the timer, closes the stream; nothing opens it again. */
  stop(): void;
  readonly state: ListenState;
}

const BASE_MS = 2_000;
const CAP_MS = 60_000;
/** A stream that lived this long counts as a success. */
const REAL_LIFE_MS = 30_000;

export function createListeningStream(options: ListeningStreamOptions): ListeningStream {
  const { clock, mode, memory } = options;
  const backoff = createBackoff({
    baseMs: BASE_MS,
    capMs: CAP_MS,
    ...(options.random ? { random: options.random } : {}),
  });
  let state: ListenState = 'closed';
  let stopped = false;
  let sealed = false;
  let bound = false;
  let working = false;
  let workedOnce = false;
  let controller: AbortController | undefined;
  let retryTimer: Timer | undefined;
  let idleTimer: Timer | undefined;
  let lastEventId: string | undefined;
  let serverRetryMs: number | undefined;
  let hadWorked = false;
  let connectingSince = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  let openedAt = 0;
  const waiters = new Set<() => void>();

  const settleWaiters = (): void => {
    for (const done of [...waiters]) done();
  };

  const wanted = (): boolean => {
    if (stopped || sealed || !bound || mode === 'off' || state === 'not-offered' || !memory.mayListen())
      return false;
    if (options.isHeard?.() === false) return false;
    return mode === 'always' || (memory.pingsOnStream && workedOnce) || working || idleTimer !== undefined;
  };

  const retry = (hintMs?: number): void => {
    notBefore = Math.max(notBefore, clock.now() + Math.max(backoff.next(), hintMs ?? 0, serverRetryMs ?? 0));
    state = 'closed';
    if (wanted()) openLater();
    settleWaiters();
  };

  /** Waits until the server may be asked again; also when the wait began before a time without work. */
  const openLater = (): void => {
    state = 'waiting';
    retryTimer = clock.after(notBefore - clock.now(), () => {
      retryTimer = undefined;
      state = 'closed';
      open();
    });
  };

  const notOffered = (): void => {
    state = 'not-offered';
    memory.stopListening();
    settleWaiters();
  };

  const open = (): void => {
    if (state !== 'closed' || !wanted()) return;
    if (clock.now() < notBefore) {
      openLater();
      settleWaiters();
      return;
    }
    state = 'connecting';
    connectingSince = clock.now();
    const own = new AbortController();
    controller = own;
    // A stream that was closed or replaced in the meantime has nothing to say any more.
    const stale = (): boolean => controller !== own;
    options.connect({ lastEventId, signal: own.signal }).then(
      (answer) => {
        if (stale()) return undefined;
        return answered(answer, stale);
      },
      () => {
        if (!stale()) retry();
      },
    );
  };

  const answered = async (answer: ListenAnswer, stale: () => boolean): Promise<void> => {
    const meaning = meaningOfListen({ ...answer, hadWorked: hadWorked || memory.listenWorked });
    switch (meaning) {
      case 'not-offered':
        notOffered();
        return;
      case 'suspect': {
        state = 'waiting';
        settleWaiters();
        // When the session is gone its successor binds us anew; when it lives, there is just no stream.
        const lives = await options.confirm().catch(() => undefined);
        if (stale()) return;
        if (lives === undefined) retry(answer.retryAfterMs);
        else if (lives) notOffered();
        return;
      }
      case 'retry':
      case 'unauthorized':
        retry(answer.retryAfterMs);
        return;
      case 'open':
    }
    openedAt = clock.now();
    state = 'open';
    options.onOpen();
    settleWaiters();
    let events = 0;
    let reason = 'ended';
    try {
      await answer.read({
        onEvent: () => {
          events += 1;
          hadWorked = true;
          memory.listenWorked = true;
          backoff.reset();
        },
        onId: (id) => {
          if (!stale()) lastEventId = id;
        },
        onRetry: (ms) => {
          serverRetryMs = Math.min(ms, 10 * 60_000);
        },
      });
    } catch {
      reason = 'cut';
    }
    const lived = clock.now() - openedAt;
    if (events > 0 || lived >= REAL_LIFE_MS) {
      hadWorked = true;
      memory.listenWorked = true;
      backoff.reset();
    }
    if (stale()) return;
    options.onClose(reason, lived);
    state = 'closed';
    retry();
  };

  const close = (reason: string): void => {
    retryTimer?.cancel();
    retryTimer = undefined;
    const wasOpen = state === 'open';
    const own = controller;
    controller = undefined;
    if (state !== 'not-offered') state = 'closed';
    if (wasOpen) {
      // It was there, and it was us who let it go.
      hadWorked = true;
      memory.listenWorked = true;
      options.onClose(reason, clock.now() - openedAt);
    }
    own?.abort(new DOMException(`listening stream closed: ${reason}`, 'AbortError'));
    settleWaiters();
  };

  const postSent = createStarvationWatch({
    clock,
    isStreamHeld: () => state === 'open' || state === 'connecting',
    isHostAsked: options.isHostAsked,
    onStarved(forMs) {
      close('yielded');
      // Not at once again: the POST that waits comes first.
      retry(forMs);
    },
    onRelieved() {
      memory.stopListening();
      close('one-worker');
    },
  });

  return {
    workBegan() {
      if (stopped) return;
      working = true;
      workedOnce = true;
      idleTimer?.cancel();
      idleTimer = undefined;
      open();
    },
    workEnded() {
      working = false;
      if (stopped || mode !== 'active' || state === 'not-offered') return;
      idleTimer?.cancel();
      idleTimer = clock.after(options.streamIdleMs, () => {
        idleTimer = undefined;
        if (!wanted()) close('idle');
      });
    },
    settled(maxMs) {
      if (!wanted() || state === 'open' || state === 'waiting') return Promise.resolve();
      return new Promise((resolve) => {
        const done = (): void => {
          timer.cancel();
          waiters.delete(done);
          resolve();
        };
        // Calls that come one after the other do not each wait anew for headers that do not come.
        const timer = clock.after(maxMs - (clock.now() - connectingSince), done);
        waiters.add(done);
      });
    },
    postSent,
    heard: open,
    bind() {
      if (stopped) return;
      close('re-opened');
      bound = true;
      // Another session, another answer; the server's own memory still says when it is not worth asking.
      if (state === 'not-offered') state = 'closed';
      lastEventId = undefined;
      serverRetryMs = undefined;
      notBefore = Number.NEGATIVE_INFINITY;
      backoff.reset();
      open();
    },
    unbind(reason) {
      bound = false;
      close(reason);
    },
    seal() {
      sealed = true;
      retryTimer?.cancel();
      retryTimer = undefined;
      if (state === 'waiting') state = 'closed';
    },
    stop() {
      if (stopped) return;
      stopped = true;
      idleTimer?.cancel();
      idleTimer = undefined;
      close('stopped');
    },
    get state() {
      return state;
    },
  };
}
