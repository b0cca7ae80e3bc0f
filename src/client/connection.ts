/**
 * One handle on one server, in messages: what the SDK sends goes in, what the server says comes out.
 * Owns: the choice of path for each message (handshake, work, answers, notifications, stateless requests).
 * Refuses: to keep rules of its own; session/ decides when, exchange.ts how.
 */
import { isMooringError, MooringError } from '../errors.js';
import { type EndReason, publish } from '../events.js';
import { eraOf } from '../protocol/eras.js';
import { EVENT_STREAM, LAST_EVENT_ID, mediaType } from '../protocol/headers.js';
import { createCookieJar } from '../protocol/cookies.js';
import { cancelledId, idKey } from '../protocol/ids.js';
import {
  envelopeVersion,
  isRequest,
  isResponse,
  isWorkMethod,
  kindOf,
  type Message,
  parseMessages,
  type RequestId,
} from '../protocol/jsonrpc.js';
import { createSseReader } from '../protocol/sse.js';
import type { Generation } from '../session/generation.js';
import { type Attempt, createHandle, type Handle } from '../session/handle.js';
import type { Member } from '../session/list-changes.js';
import { createListeningStream, type ListenAnswer } from '../session/listening-stream.js';
import { linkedController } from '../session/waiting.js';
import { unauthorized } from './credentials.js';
import { exchange } from './exchange.js';
import type { ExitTarget } from './exit-sender.js';
import { createInbox } from './inbox.js';
import { InitializeRefused, type OpenedSession, openSession } from './opened-session.js';
import { createRestore } from './restore.js';
import type { ServerContext } from './server-context.js';
import { type SessionIdentity, sendForSession } from './session-http.js';

export interface SendOptions {
  headers?: ReadonlyMap<string, string>;
  signal?: AbortSignal;
  resumptionToken?: string;
  onEventId?(id: string): void;
  /** The stream of a stateless request ended before its response. */
  onStreamEnd?(): void;
}

export interface ConnectionOptions {
  scope: string;
  toHost(message: Message): void;
  onError(error: Error): void;
  /** Idle for `idleMs`. @default the session is put to sleep, and the next work opens another */
  onIdle?(): void;
  /** It was closed, by whomever. */
  onEnded?(): void;
}

export interface Connection {
  /**
   * Resolves when the message has been taken, for a request when its response has been handed to the host.
   * Rejects with a MooringError.
   */
  send(message: Message, options?: SendOptions): Promise<void>;
  close(reason: EndReason, limits?: { drainMs?: number; deleteMs?: number }): Promise<void>;
  readonly handle: Handle<OpenedSession>;
  /** The first id that the server issued; it stays the host's for good. */
  readonly firstId: string | undefined;
  readonly streamOpen: boolean;
  /** The version that the host negotiated; only 2026-07-28 and later matter, the rest is each session's own. */
  setVersion(version: string): void;
}

/** The longest that a call waits for the listening stream that its answer may need, ms. */
const STREAM_FIRST_MS = 1_000;
/** How long a server request may stay unanswered while it holds the idle clock, ms (DESIGN: answerMs). */
const ANSWER_MS = 60 * 60_000;
/** The request of 2026-07-28 whose answer is a stream without an end. */
const SUBSCRIBE = 'subscriptions/listen';
/** A `cancelled` that the server does not take in this time is given up, ms. */
const CANCEL_MS = 2_000;

export function createConnection(context: ServerContext, options: ConnectionOptions): Connection {
  const { clock, memory, settings, lists } = context;
  const restore = createRestore();
  /** Requests in flight, by typed id: how to let go of one, and the generation that it runs on. */
  const running = new Map<string, { abort: AbortController; generation: number }>();
  let initialize: Message | undefined;
  let firstId: string | undefined;
  let wantsStreamFirst = false;
  let working = 0;
  let counter = 0;
  let stopListening: (() => void) | undefined;
  let finished: Promise<void> | undefined;
  const stateless: SessionIdentity = {
    id: undefined,
    version: undefined,
    cookies: createCookieJar(settings.url),
    lastHeaders: new Map(),
  };

  const event = (generation: { number: number; opened: OpenedSession }) => ({
    server: context.name,
    scope: options.scope,
    generation: generation.number,
    ...(generation.opened.id === undefined ? {} : { session: context.fingerprint(generation.opened.id) }),
  });

  const member: Member = {
    declares: (kind) => handle.current?.opened.declared.has(kind) === true,
    isListening: () => listening.state === 'open',
    tell: (kind) => options.toHost({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` }),
  };
  const leaveLists = lists.join(member);

  const inbox = createInbox({
    toHost: options.toHost,
    work: () => handle.work,
    memory,
    lists,
    member,
  });

  /** From here on somebody owes this id a DELETE. */
  function owe(id: string, identity: SessionIdentity): void {
    context.owed.add(id, () => exitTarget(identity));
    context.ledger.opened({ url: settings.url.href, id, principal: context.principal });
  }

  function settle(id: string | undefined): void {
    if (id === undefined) return;
    context.owed.settle(id);
    context.ledger.settled(id);
  }

  function exitTarget({ lastHeaders }: SessionIdentity): ExitTarget {
    const headers = Object.fromEntries(lastHeaders);
    delete headers['content-type'];
    return { url: (memory.location ?? settings.url).href, headers };
  }

  const handle: Handle<OpenedSession> = createHandle<OpenedSession>(
    {
      async open(number) {
        const message =
          number === 1 || initialize === undefined ? initialize : { ...initialize, id: nextId() };
        return openSession(context, message as Message, owe, (other) =>
          inbox.take(other, { generation: number }),
        );
      },
      restore: (generation, signal) => restoreSession(generation, signal),
      async sendDelete(opened, signal) {
        const reply = await sendForSession(context, opened, { method: 'DELETE', accept: '*/*', signal });
        reply.response.discard();
        return {
          status: reply.status,
          ...(reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }),
        };
      },
      onOpened(generation, kind) {
        firstId ??= generation.opened.id;
        context.onAccepted(generation.opened.lastHeaders);
        context.tally[kind === 'first' ? 'opened' : 'reopened'] += 1;
        publish(kind === 'first' ? 'opened' : 'reopened', event(generation));
        if (kind === 'first') return;
        bindStream(generation);
        // The server may have changed while nobody listened; whoever keeps lists asks again.
        if (kind === 'reopened') lists.unheard();
      },
      onRetired(generation, reason) {
        publish('retired', { ...event(generation), reason });
        listening.unbind(reason);
        // The server itself said that it does not know it: there is nothing left to end.
        if (generation.refusedWith === 404) settle(generation.opened.id);
      },
      onForgotten: (generation) => inbox.forget(generation.number),
      onDeleted(opened, number, reason, status, durationMs) {
        context.tally.deleted += 1;
        settle(opened.id);
        publish('terminated', { ...event({ number, opened }), reason, status, durationMs });
      },
      onNotConfirmed(opened, number, reason, status, durationMs) {
        context.tally.notConfirmed += 1;
        publish('notConfirmed', {
          ...event({ number, opened }),
          reason,
          durationMs,
          ...(status === undefined ? {} : { status }),
        });
      },
      onIdle() {
        // Subscribed and always listening: the host wants to hear, even if it does not ask.
        if (settings.listen === 'always' && restore.hasSubscriptions) return;
        if (options.onIdle === undefined) void handle.sleep('idle');
        else options.onIdle();
      },
    },
    {
      clock,
      limiter: context.limiter,
      terminator: context.terminator,
      server: context.name,
      get openMs() {
        return settings.acquireMs;
      },
      get idleMs() {
        return settings.idleMs;
      },
      get deleteMs() {
        return settings.deleteMs;
      },
      answerMs: ANSWER_MS,
    },
  );

  const listening = createListeningStream({
    clock,
    mode: settings.listen,
    get streamIdleMs() {
      return settings.streamIdleMs;
    },
    memory,
    connect: (request) => listen(request.lastEventId, request.signal),
    async confirm() {
      await sendRequest({ jsonrpc: '2.0', id: nextId(), method: 'ping' }, {}, () => {});
      return true;
    },
    onOpen() {
      stopListening = lists.listening();
      if (handle.current !== undefined) publish('streamOpened', event(handle.current));
    },
    onClose(reason, durationMs) {
      stopListening?.();
      stopListening = undefined;
      publish('streamClosed', { server: context.name, scope: options.scope, reason, durationMs });
    },
  });

  function nextId(): string {
    counter += 1;
    return `mooring-${counter}`;
  }

  /** Only a session with an id can be listened to. */
  function bindStream(generation: Generation<OpenedSession>): void {
    if (generation.opened.id === undefined) listening.unbind('no-session');
    else listening.bind();
  }

  async function listen(lastEventId: string | undefined, signal: AbortSignal): Promise<ListenAnswer> {
    const generation = handle.current;
    if (generation === undefined) throw new Error('no session to listen to');
    const reply = await sendForSession(context, generation.opened, {
      method: 'GET',
      accept: EVENT_STREAM,
      signal,
      lane: 'listen',
      ...(lastEventId === undefined ? {} : { extra: new Map([[LAST_EVENT_ID, lastEventId]]) }),
    });
    const { response } = reply;
    const isEventStream = mediaType(response.header('content-type')) === EVENT_STREAM;
    if (reply.status >= 300 || !isEventStream) response.discard();
    return {
      status: reply.status,
      isEventStream,
      ...(reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }),
      async read({ onEvent, onId, onRetry }) {
        const reader = createSseReader({
          onEvent({ event: name, data }) {
            onEvent();
            if (name !== 'message') return;
            const messages = parseMessages(data);
            if (messages === undefined) options.onError(garbage(data));
            for (const message of messages ?? []) inbox.take(message, { generation: generation.number });
          },
          onId,
          onRetry,
        });
        for await (const chunk of response.chunks()) reader.push(chunk);
      },
    };
  }

  function garbage(data: string): MooringError {
    return new MooringError(
      'MOORING_BAD_RESPONSE',
      `${context.name} sent an event that is no JSON-RPC message (${data.length} characters); it was left out`,
      { server: context.name },
    );
  }

  /** One attempt of one message on one generation. */
  function attemptOn(
    message: Message,
    sendOptions: SendOptions,
    signal: AbortSignal,
    toHost: (message: Message, generation: number) => void,
  ): (generation: Generation<OpenedSession>) => Promise<Attempt<number>> {
    let refusedFor401 = false;
    return async (generation) => {
      const entry =
        message.id === undefined || message.id === null ? undefined : running.get(idKey(message.id));
      if (entry !== undefined) entry.generation = generation.number;
      const headersThere = listening.postSent();
      try {
        const result = await exchange(context, generation.opened, {
          message,
          signal,
          ...(sendOptions.headers === undefined ? {} : { headers: sendOptions.headers }),
          ...(sendOptions.resumptionToken === undefined ? {} : { resumeFrom: sendOptions.resumptionToken }),
          onMessage: (answer) => toHost(answer, generation.number),
          onHeaders: headersThere,
          onEventId: (id) => sendOptions.onEventId?.(id),
          onGarbage: (what) => options.onError(garbage(what)),
          elsewhere: () => inbox.expect(message.id as RequestId, generation.number),
        });
        if ('refused' in result && result.refused === 401) {
          if (refusedFor401) throw unauthorized(context.name, 401, 'a new session did not help');
          refusedFor401 = true;
        }
        return result;
      } finally {
        headersThere();
      }
    };
  }

  /** A request with a session: counted, sent, sent again once if the session was refused. */
  async function sendRequest(
    message: Message & { id: RequestId; method: string },
    sendOptions: SendOptions,
    toHost: (message: Message, generation: number) => void,
  ): Promise<void> {
    const key = idKey(message.id);
    const isWork = isWorkMethod(message.method);
    const { controller: abort, unlink } = linkedController(handle.cut, sendOptions.signal);
    const { signal } = abort;
    running.set(key, { abort, generation: 0 });
    if (isWork) {
      working += 1;
      lists.workBegins(message.method);
      listening.workBegan();
    }
    try {
      const attempt = attemptOn(message, sendOptions, signal, toHost);
      const status = await handle.run(
        key,
        async (generation) => {
          if (isWork && wantsStreamFirst) await listening.settled(STREAM_FIRST_MS);
          return attempt(generation);
        },
        signal,
      );
      if (isWork && status < 400) handle.work.worked();
    } catch (error) {
      if (error !== GIVEN_UP) throw error;
    } finally {
      unlink();
      running.delete(key);
      if (isWork) {
        working -= 1;
        if (working === 0) {
          listening.workEnded();
          if (listening.state !== 'open') lists.unheard();
        }
      }
    }
  }

  /** The host has given up a request: the server is told, and its answer is not waited for any more. */
  async function sendCancelled(message: Message, id: RequestId): Promise<void> {
    const entry = running.get(idKey(id));
    if (entry === undefined) return;
    const { controller, unlink } = linkedController(handle.cut);
    const timer = clock.after(CANCEL_MS, () =>
      controller.abort(new DOMException('too slow', 'TimeoutError')),
    );
    try {
      const attempt = attemptOn(message, {}, controller.signal, () => {});
      await handle.runOn(entry.generation, attempt);
    } catch (error) {
      options.onError(error as Error);
    } finally {
      timer.cancel();
      unlink();
      entry.abort.abort(GIVEN_UP);
    }
  }

  async function restoreSession(generation: Generation<OpenedSession>, signal: AbortSignal): Promise<void> {
    const send = async (message: Message): Promise<void> => {
      const result = await exchange(context, generation.opened, {
        message,
        signal,
        onMessage: () => {},
        elsewhere: () => Promise.resolve(),
      });
      if (!('refused' in result)) return;
      throw new MooringError(
        'MOORING_SESSION_LOST',
        `${context.name} refused the new session at once (HTTP ${result.refused}); ` +
          'check that requests of one session reach one replica',
        { server: context.name, generation: generation.number, httpStatus: result.refused },
      );
    };
    await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    for (const request of restore.requests()) {
      await send({ jsonrpc: '2.0', id: nextId(), ...request }).catch((error: Error) =>
        options.onError(error),
      );
    }
  }

  async function sendInitialize(message: Message & { id: RequestId }): Promise<void> {
    if (initialize !== undefined && handle.current !== undefined) {
      throw new MooringError('MOORING_BAD_REQUEST', 'this transport is initialized already; use a new one');
    }
    initialize = message;
    const capabilities = (message.params?.capabilities ?? {}) as Record<string, unknown>;
    wantsStreamFirst = ['sampling', 'elicitation', 'roots'].some((name) => capabilities[name] !== undefined);
    try {
      const generation = await handle.open();
      options.toHost({ ...generation.opened.response, id: message.id });
    } catch (error) {
      if (!(error instanceof InitializeRefused)) throw error;
      options.toHost({ ...error.response, id: message.id });
    }
  }

  async function sendNotification(message: Message, sendOptions: SendOptions): Promise<void> {
    const cancelled = message.method === 'notifications/cancelled' ? cancelledId(message.params) : undefined;
    if (cancelled !== undefined) return sendCancelled(message, cancelled);
    // Notifications wake nothing; the next session is told what it needs when it is opened.
    if (handle.phase === 'dormant') return;
    const isInitialized = message.method === 'notifications/initialized';
    // Told about roots, a new session asks for them anew; everything else belongs to the one it was meant for.
    const resend = isInitialized || message.method === 'notifications/roots/list_changed';
    const { controller, unlink } = linkedController(handle.cut, sendOptions.signal);
    const attempt = attemptOn(message, sendOptions, controller.signal, () => {});
    const first = handle.current?.number;
    try {
      await handle.run(
        `notification ${nextId()}`,
        async (generation) => {
          // A re-opened session has been told already.
          if (isInitialized && generation.number !== first) return { value: 202 };
          const result = await attempt(generation);
          return 'refused' in result && !resend ? { value: 202 } : result;
        },
        controller.signal,
      );
    } finally {
      unlink();
    }
    if (isInitialized && handle.current?.number === first && handle.current !== undefined) {
      bindStream(handle.current);
    }
  }

  /** Requests that name their own revision, from 2026-07-28 on: no session, nothing invented. */
  async function sendStateless(message: Message, sendOptions: SendOptions): Promise<void> {
    const { controller: abort, unlink } = linkedController(handle.cut, sendOptions.signal);
    const key = isRequest(message) ? idKey(message.id) : `loose ${nextId()}`;
    running.set(key, { abort, generation: 0 });
    const send = async (): Promise<void> => {
      await exchange(context, stateless, {
        message,
        signal: abort.signal,
        ...(sendOptions.headers === undefined ? {} : { headers: sendOptions.headers }),
        onMessage: options.toHost,
        onGarbage: (what) => options.onError(garbage(what)),
        elsewhere: () => Promise.resolve(),
      });
    };
    try {
      // A subscription lasts as long as its stream: closing must not wait for it.
      await (message.method === SUBSCRIBE ? send() : handle.track(key, send));
    } catch (error) {
      if (error === GIVEN_UP) return;
      const ended = isMooringError(error) && error.code === 'MOORING_OUTCOME_UNKNOWN';
      if (!ended || sendOptions.onStreamEnd === undefined) throw error;
      sendOptions.onStreamEnd();
    } finally {
      unlink();
      running.delete(key);
    }
  }

  return {
    async send(message, sendOptions = {}) {
      if (kindOf(message) === 'invalid') {
        throw new MooringError(
          'MOORING_BAD_REQUEST',
          'this is no single JSON-RPC message; send batches one by one',
        );
      }
      if (isResponse(message)) {
        const place = inbox.answer(message);
        if (place === undefined) return;
        try {
          await handle.runOn(place.generation, (generation) =>
            attemptOn(place.message, {}, handle.cut, () => {})(generation),
          );
        } finally {
          handle.answered(place.key);
        }
        return;
      }
      if (isRequest(message) && message.method === 'initialize') return sendInitialize(message);
      if (isRequest(message) && message.method === 'ping' && handle.phase === 'dormant') {
        // Kept alive towards the host while nothing is held at the server.
        options.toHost({ jsonrpc: '2.0', id: message.id, result: {} });
        return;
      }
      const version =
        envelopeVersion(message) ?? (handle.current === undefined ? stateless.version : undefined);
      if (version !== undefined && eraOf(version) === 'stateless') return sendStateless(message, sendOptions);
      if (initialize === undefined) {
        throw new MooringError(
          'MOORING_BAD_REQUEST',
          `send initialize before ${message.method ?? 'anything else'}`,
        );
      }
      if (!isRequest(message)) return sendNotification(message, sendOptions);
      await sendRequest(message, sendOptions, (answer, generation) => {
        if (isResponse(answer) && answer.error === undefined) restore.confirmed(message);
        inbox.take(answer, { generation, request: message });
      });
    },
    close(reason, { drainMs = settings.drainMs, deleteMs = settings.deleteMs } = {}) {
      const closing = handle.close(reason, { drainMs, deleteMs });
      finished ??= closing.then(() => {
        listening.stop();
        leaveLists();
        options.onEnded?.();
      });
      return finished;
    },
    setVersion(version) {
      if (eraOf(version) === 'stateless') stateless.version = version;
    },
    handle,
    get firstId() {
      return firstId;
    },
    get streamOpen() {
      return listening.state === 'open';
    },
  };
}

/** The host does not want the answer any more; nobody is told. */
const GIVEN_UP: unknown = new DOMException('given up by the host', 'AbortError');
