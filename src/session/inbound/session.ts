/**
 * One inbound session: its state, its clocks, what is in flight, its listening stream and what it owns.
 * Owns: `end(reason)`, the only way out. However it comes about, timers are cancelled, the stream is closed and
 * every owned resource is released, once.
 * Refuses: to be touched after its end (report R017): every method is then a no-op that says so.
 */
import type { Clock } from '../../clock.js';
import { type EndReason, publish } from '../../events.js';
import { idKey } from '../../protocol/ids.js';
import { isWorkMethod, type RequestId } from '../../protocol/jsonrpc.js';
import { createWorkClock } from '../work-clock.js';
import { createAgeLimit } from './age-limit.js';
import { createExchanges, type Exchange } from './exchanges.js';
import { createListeningSlot, type ListeningStream, type ListenVerdict } from './listening-slot.js';
import { createOwned, type Owned, type OwnedHooks, type Release } from './owned.js';
import { type InboundEvent, type InboundState, nextInbound } from './state.js';

/** A session without work after its first minute is a ghost. */
const GHOST_AFTER_MS = 60_000;

export interface InboundSession {
  /** What `Mcp-Session-Id` carries. Never to be logged: that is what `fingerprint` is for. */
  readonly id: string;
  readonly fingerprint: string;
  /** Whose credentials opened it. */
  readonly principal: string;
  /** The version that `initialize` agreed on; requests without the header have it. */
  readonly protocolVersion: string;
  /** clock.now() when `initialize` was answered. */
  readonly openedAt: number;
  readonly state: InboundState;
  /** Set once it has ended. */
  readonly endReason: EndReason | undefined;
  /** No work, and older than its first minute. */
  readonly isGhost: boolean;
  /** Requests without their final response, answers the client owes, tasks not terminal. */
  readonly inFlight: number;
  /** Milliseconds since the last work with nothing in flight. */
  readonly idleFor: number;
  /** clock.now() of the last work; of the opening where there was none. */
  readonly lastWorkAt: number;
  readonly isListening: boolean;

  /** `notifications/initialized` came. */
  initialized(): void;
  /** A request came. Wakes a dormant session unless it is a `ping`. Undefined after the end. */
  beginRequest(id: RequestId, method: string): Exchange | undefined;
  /** The exchange that a `notifications/cancelled` means; undefined when none does, or more than one. */
  exchangeOf(id: RequestId): Exchange | undefined;
  /** A request was delivered to the client; it holds the idle clock for at most `answerMs`. */
  owesAnswer(id: RequestId): void;
  /** A response came. False when nobody waits for it: answer 202 and drop it (report R082). */
  answered(id: RequestId): boolean;
  /** A task was created; it holds the idle clock until it is terminal, for at most its ttl. */
  beginTask(taskId: string, ttlMs?: number): void;
  endTask(taskId: string): void;
  /** Asks for the listening slot; see {@link ListeningStream}. Never rejects. */
  listen(stream: ListeningStream, signal?: AbortSignal): Promise<ListenVerdict>;
  /** Releases it when the session ends, whatever ends it. The returned function gives it up unreleased. */
  own(release: Release): () => void;
  /** Releases it when the session goes to sleep or ends, whichever comes first. */
  ownWhileAwake(release: Release): () => void;
  /** Ends the session. False when it had ended before. */
  end(reason: EndReason): boolean;
}

/** What all sessions of a table share. */
export interface SessionContext extends OwnedHooks {
  clock: Clock;
  /** `server` of the events. */
  label: string;
  fingerprint: (id: string) => string;
  initializeMs: number;
  idleMs: number;
  answerMs: number;
  /** Infinity: none. */
  maxAgeMs: number;
  onIdle: 'end' | 'sleep';
  onWork: (session: InboundSession) => void;
  onSleep: (session: InboundSession) => void;
  onWake: (session: InboundSession) => void;
  /** First of all that happens at the end: removes it from every map. */
  onEnd: (session: InboundSession, reason: EndReason) => void;
}

export interface SessionSeed {
  id: string;
  principal: string;
  protocolVersion: string;
  /** What its reservation owned is its own from now on. */
  owned: Owned;
}

export function createInboundSession(seed: SessionSeed, context: SessionContext): InboundSession {
  const { id, principal, protocolVersion, owned } = seed;
  const { clock, label, onError } = context;
  const openedAt = clock.now();
  const fingerprint = context.fingerprint(id);
  let state: InboundState = 'fresh';
  let endReason: EndReason | undefined;
  let ownedWhileAwake = createOwned(context);

  const event = { server: label, session: fingerprint };
  const slot = createListeningSlot({
    clock,
    onError,
    onOpen: () => publish('streamOpened', { ...event }),
    onClose: () => publish('streamClosed', { ...event }),
  });

  const apply = (what: InboundEvent): boolean => {
    const next = nextInbound(state, what);
    if (next === undefined) return false;
    state = next;
    return true;
  };

  // `active` and `idle` follow from what is in flight, also when an answer that nobody gave runs out.
  const settledState = (): InboundState => {
    if (state === 'active' || state === 'idle') apply(work.inFlight() > 0 ? 'held' : 'quiet');
    return state;
  };

  const whenIdle = (): void => {
    if (settledState() === 'dormant') return;
    // A session that is still fresh after its idle time was never begun: there is nothing to keep.
    if (context.onIdle === 'end' || !apply('slept')) {
      end('idle');
      return;
    }
    ownedWhileAwake.releaseAll();
    notify(context.onSleep);
  };

  const work = createWorkClock({
    clock,
    idleMs: context.idleMs,
    answerMs: context.answerMs,
    onIdle: whenIdle,
  });
  const exchanges = createExchanges({
    onBegin: (key) => work.begin('request', key),
    onEnd(key, hasWorked) {
      if (hasWorked) {
        work.worked();
        context.onWork(session);
      }
      work.end('request', key);
    },
  });
  const startTimer = clock.after(context.initializeMs, () => {
    if (state === 'fresh') end('gone');
  });

  const ageLimit = createAgeLimit({
    clock,
    maxAgeMs: context.maxAgeMs,
    isBusy: () => work.inFlight() > 0,
    onOld: () => end('max-age'),
  });

  const notify = (hook: (session: InboundSession) => void): void => {
    try {
      hook(session);
    } catch (error) {
      onError(error);
    }
  };

  const wake = (): void => {
    ownedWhileAwake = createOwned(context);
    notify(context.onWake);
  };

  function end(reason: EndReason): boolean {
    if (!apply('ended')) return false;
    endReason = reason;
    context.onEnd(session, reason);
    startTimer.cancel();
    ageLimit.cancel();
    work.stop();
    exchanges.clear();
    slot.end();
    ownedWhileAwake.releaseAll();
    owned.releaseAll();
    publish('terminated', { ...event, reason, durationMs: clock.now() - openedAt });
    return true;
  }

  const session: InboundSession = {
    id,
    fingerprint,
    principal,
    protocolVersion,
    openedAt,
    get state() {
      return settledState();
    },
    get endReason() {
      return endReason;
    },
    get isGhost() {
      return !work.hasWorked && clock.now() - openedAt >= GHOST_AFTER_MS;
    },
    get inFlight() {
      return work.inFlight();
    },
    get idleFor() {
      return work.idleFor;
    },
    get lastWorkAt() {
      return work.lastWorkAt;
    },
    get isListening() {
      return slot.isOpen;
    },
    initialized() {
      if (apply('initialized')) startTimer.cancel();
    },
    beginRequest(requestId, method) {
      if (state === 'ended') return undefined;
      const isWork = isWorkMethod(method);
      const woke = isWork && state === 'dormant';
      if (isWork && apply('request')) startTimer.cancel();
      const exchange = exchanges.begin({ id: requestId, method, woke });
      if (woke) wake();
      return exchange;
    },
    exchangeOf: (requestId) => exchanges.only(requestId),
    owesAnswer(requestId) {
      if (state !== 'dormant') work.begin('answer', idKey(requestId));
    },
    answered: (requestId) => slot.answered(requestId) || work.end('answer', idKey(requestId)),
    beginTask(taskId, ttlMs) {
      if (state !== 'dormant') work.begin('task', taskId, ttlMs);
    },
    endTask: (taskId) => void work.end('task', taskId),
    listen: (stream, signal) => slot.claim(stream, signal),
    own: (release) => owned.add(release),
    ownWhileAwake: (release) => ownedWhileAwake.add(release),
    end,
  };

  return session;
}
