/**
 * What the host sends, each kind of message on its own path: requests, answers, notifications.
 * Owns: requests in flight by typed id, so that one can be given up.
 * Refuses: to keep rules of its own; session/ decides when, exchange.ts how.
 */
import { MooringError } from '../errors.js';
import { idKey } from '../protocol/ids.js';
import { isRequest, isResponse, isWorkMethod, type Message, type RequestId } from '../protocol/jsonrpc.js';
import type { Generation } from '../session/outbound/generation.js';
import type { Attempt } from '../session/outbound/handle.js';
import { deadlineController, linkedController, untilAborted } from '../session/waiting.js';
import { unauthorized } from './credentials.js';
import { exchange } from './exchange.js';
import { unanswered } from './failures.js';
import type { Expectation } from './inbox.js';
import type { OpenedSession } from './opened-session.js';
import { garbage, type Parts } from './parts.js';
import { bindStream } from './session-ports.js';

export interface SendOptions {
  headers?: ReadonlyMap<string, string>;
  signal?: AbortSignal;
  resumptionToken?: string;
  onEventId?(id: string): void;
  /** The stream of a stateless request ended before its response. */
  onStreamEnd?(): void;
}

export interface Outgoing {
  /** Resolves when the response has been handed to the host. */
  request(message: Message & { id: RequestId; method: string }, options: SendOptions): Promise<void>;
  /** A `ping` of our own; its answer is nobody's business. */
  ping(): Promise<void>;
  /** The host's answer to a request of the server's. */
  answer(message: Message & { id: RequestId }): Promise<void>;
  notification(message: Message, options: SendOptions): Promise<void>;
  /** The host gives up a request: the server is told, and its answer is not waited for any more. */
  cancel(message: Message, id: RequestId): Promise<void>;
}

/** The longest that a call waits for the listening stream that its answer may need, ms. */
const STREAM_FIRST_MS = 1_000;
/** A `ping` of our own is given up after this long, ms. */
const PING_MS = 10_000;
/** A `cancelled` that the server does not take in this time is given up, ms. */
const CANCEL_MS = 2_000;
/** The host does not want the answer any more; nobody is told. */
const GIVEN_UP: unknown = new DOMException('given up by the host', 'AbortError');

type ToHost = (message: Message, generation: number) => void;

export function createOutgoing(parts: Parts): Outgoing {
  const { context, handle, inbox, listening, restore } = parts;
  const { lists } = context;
  const running = new Map<string, { abort: AbortController; generation: number }>();
  let working = 0;

  /** One attempt of one message on whichever generation the handle offers. */
  const attemptWith = (
    message: Message,
    options: SendOptions,
    signal: AbortSignal,
    toHost: ToHost,
  ): ((generation: Generation<OpenedSession>) => Promise<Attempt<number>>) => {
    let refusedFor401 = false;
    return async (generation) => {
      const entry = isRequest(message) ? running.get(idKey(message.id)) : undefined;
      if (entry !== undefined) entry.generation = generation.number;
      const post = listening.postSent();
      // The response of a request may come on the listening stream, and even before the 202 that says so.
      const expectation = isRequest(message) ? inbox.expect(message.id, generation.number) : undefined;
      try {
        const result = await exchange(context, generation.opened, {
          message,
          signal,
          closing: handle.closing,
          ...(options.headers === undefined ? {} : { headers: options.headers }),
          ...(options.resumptionToken === undefined ? {} : { resumeFrom: options.resumptionToken }),
          onMessage: (answer) => toHost(answer, generation.number),
          onHeaders: post.answered,
          onEventId: (id) => options.onEventId?.(id),
          onGarbage: (what) => parts.onError(garbage(parts, what)),
          elsewhere: () => responseElsewhere(expectation, signal),
          isAnswered: () => expectation?.hasArrived === true,
        });
        if ('refused' in result && result.refused === 401) {
          if (refusedFor401) throw unauthorized(context.name, 401, 'a new session did not help');
          refusedFor401 = true;
        }
        return result;
      } finally {
        post.gaveUp();
        expectation?.drop();
      }
    };
  };

  /** A 202 to a request: its response comes on the listening stream, if there is one. */
  const responseElsewhere = async (
    expectation: Expectation | undefined,
    signal: AbortSignal,
  ): Promise<void> => {
    const canCome = context.settings.listen !== 'off' && listening.state !== 'not-offered';
    if (expectation !== undefined && canCome) return untilAborted(expectation.arrived, signal);
    throw new MooringError(
      'MOORING_BAD_RESPONSE',
      `${context.name} answered a request with 202, so its response would have to come on a listening stream, ` +
        "and there is none; set listen to 'active'",
      { server: context.name, httpStatus: 202 },
    );
  };

  const workBegins = (): void => {
    working += 1;
    listening.workBegan();
  };

  const workEnds = (): void => {
    working -= 1;
    if (working > 0) return;
    listening.workEnded();
    if (listening.state !== 'open') lists.unheard();
  };

  /** `sampling`, `elicitation` and `roots` come on the listening stream: it is there before the call is. */
  const wantsStreamFirst = (): boolean => {
    const capabilities = (parts.initialize()?.params?.capabilities ?? {}) as Record<string, unknown>;
    return ['sampling', 'elicitation', 'roots'].some((name) => capabilities[name] !== undefined);
  };

  const request = async (
    message: Message & { id: RequestId; method: string },
    options: SendOptions,
    toHost: ToHost,
  ): Promise<void> => {
    const key = idKey(message.id);
    const isWork = isWorkMethod(message.method);
    const { controller: abort, unlink } = linkedController(handle.cut, options.signal);
    running.set(key, { abort, generation: 0 });
    if (isWork) workBegins();
    let isFirstTry = true;
    try {
      const attempt = attemptWith(message, options, abort.signal, toHost);
      const status = await handle.run(
        key,
        async (generation) => {
          // Only now is it known what the server declared.
          if (isWork && isFirstTry) lists.workBegins(message.method, parts.member);
          isFirstTry = false;
          if (isWork && wantsStreamFirst()) await listening.settled(STREAM_FIRST_MS);
          return attempt(generation);
        },
        abort.signal,
      );
      if (isWork && status < 400) handle.work.worked();
    } catch (error) {
      if (error !== GIVEN_UP) throw error;
    } finally {
      unlink();
      running.delete(key);
      if (isWork) workEnds();
    }
  };

  return {
    request: (message, options) =>
      request(message, options, (answer, generation) => {
        if (isResponse(answer) && answer.error === undefined) restore.confirmed(message);
        inbox.take(answer, { generation, request: message });
      }),
    async ping() {
      const message = { jsonrpc: '2.0' as const, id: parts.nextId(), method: 'ping' };
      const late = (): Error => unanswered(context, message, PING_MS);
      const { controller, unlink } = deadlineController(context.clock, PING_MS, late);
      await request(message, { signal: controller.signal }, () => {}).finally(unlink);
    },
    async answer(message) {
      const place = inbox.answer(message);
      if (place === undefined) return;
      const ms = context.settings.acquireMs;
      const late = (): Error => unanswered(context, { jsonrpc: '2.0', method: 'a response' }, ms);
      const { controller, unlink } = deadlineController(context.clock, ms, late, handle.cut);
      try {
        await handle.runOn(
          place.generation,
          attemptWith(place.message, {}, controller.signal, () => {}),
        );
      } finally {
        unlink();
        handle.answered(place.key);
      }
    },
    async cancel(message, id) {
      const entry = running.get(idKey(id));
      if (entry === undefined) return;
      const late = (): Error => unanswered(context, message, CANCEL_MS);
      const { controller, unlink } = deadlineController(context.clock, CANCEL_MS, late, handle.cut);
      try {
        await handle.runOn(
          entry.generation,
          attemptWith(message, {}, controller.signal, () => {}),
        );
      } catch (error) {
        parts.onError(error as Error);
      } finally {
        unlink();
        entry.abort.abort(GIVEN_UP);
      }
    },
    async notification(message, options) {
      // Notifications wake nothing; the next session is told what it needs when it is opened.
      if (handle.phase === 'dormant') return;
      const isInitialized = message.method === 'notifications/initialized';
      // Told about roots, a new session asks for them anew; everything else belongs to the one it was meant for.
      const resend = isInitialized || message.method === 'notifications/roots/list_changed';
      // One that is never answered must not hold the idle clock for ever.
      const ms = context.settings.acquireMs;
      const late = (): Error => unanswered(context, message, ms);
      const { controller, unlink } = deadlineController(context.clock, ms, late, handle.cut, options.signal);
      const attempt = attemptWith(message, options, controller.signal, () => {});
      const first = handle.current?.number;
      try {
        await handle.run(
          `notification ${parts.nextId()}`,
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
      const { current } = handle;
      if (isInitialized && current !== undefined && current.number === first) bindStream(parts, current);
    },
  };
}
