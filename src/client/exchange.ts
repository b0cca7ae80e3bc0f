/**
 * One POST from its first byte to its final response, on one generation.
 * Owns: what is tried again and what never is: nothing written -> retried; Retry-After -> obeyed;
 * an event id -> resumed by GET; a read -> asked once more; anything else lost -> outcome unknown (rule "Refused").
 * Refuses: to replay a tool that may have run (report R041).
 */
import { EVENT_STREAM, JSON_TYPE, mediaType } from '../protocol/headers.js';
import { idKey } from '../protocol/ids.js';
import {
  errorResponse,
  isReadMethod,
  isRequest,
  type Message,
  parseMessages,
  type RequestId,
} from '../protocol/jsonrpc.js';
import { meaningOfPost } from '../protocol/meaning.js';
import { bodyDerivedHeaders } from '../protocol/request-headers.js';
import { createBackoff } from '../session/backoff.js';
import type { Attempt } from '../session/outbound/handle.js';
import { readAnswer } from './answer.js';
import { unauthorized } from './credentials.js';
import type { ExchangeOptions } from './exchange-options.js';
import { badResponse, httpStatus, outcomeUnknown, unreachable, withReply } from './failures.js';
import { answerHandlers, type BrokenOff, pause, RETRY, resume } from './resumption.js';
import type { ServerContext } from './server-context.js';
import { type Reply, type SessionIdentity, type SessionRequest, sendForSession } from './session-http.js';
import { WireError } from './wire.js';

/** HTTP status of the answer. */
export type Answered = number;

const ACCEPT_POST = `${JSON_TYPE}, ${EVENT_STREAM}`;
const MAX_BUSY = 3;
const DISCOVER = 'server/discover';

/** Resolves when the answer has been handed on, or with the refusal; rejects with a MooringError or the signal's reason. */
export async function exchange(
  context: ServerContext,
  identity: SessionIdentity,
  options: ExchangeOptions,
): Promise<Attempt<Answered>> {
  const { message, signal, insistMs = context.settings.acquireMs, obeysRetryAfter = true } = options;
  const id = isRequest(message) ? message.id : undefined;
  if (id !== undefined && options.resumeFrom !== undefined) {
    const resumed = await resume(context, identity, options, id, { lastId: options.resumeFrom, retryMs: 0 });
    if (resumed) return { value: 200 };
    throw outcomeUnknown(context, message);
  }
  let repeatsLeft = isRepeatable(context, message) ? 1 : 0;
  const startedAt = context.clock.now();
  const until = startedAt + context.settings.acquireMs;
  const backoff = createBackoff(RETRY);
  let busy = 0;
  for (;;) {
    let reply: Reply;
    try {
      reply = await sendForSession(context, identity, {
        method: 'POST',
        accept: ACCEPT_POST,
        body: JSON.stringify(message),
        extra: extraHeaders(message, options.headers),
        signal,
        noRetryAfter: options.closing,
        ...optional(options),
      });
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      if (!error.written) {
        const waitMs = backoff.next();
        if (context.clock.now() + waitMs >= startedAt + insistMs) throw unreachable(context, error);
        await pause(context, waitMs, options);
        continue;
      }
      if (options.isAnswered?.() === true) return { value: 200 };
      if (repeatsLeft-- > 0 && !options.closing.aborted) continue;
      throw outcomeUnknown(context, message, error);
    }
    options.onHeaders?.(reply);
    const meaning = meaningOfPost({
      status: reply.status,
      carriedId: identity.id !== undefined,
      challenged: reply.response.header('www-authenticate') !== undefined,
      hasRetryAfter: reply.retryAfterMs !== undefined,
      body: reply.errorText,
    });
    if (meaning === 'refused') return { refused: reply.status };
    if (meaning === 'busy' && obeysRetryAfter && busy < MAX_BUSY) {
      const waitMs = reply.retryAfterMs ?? 0;
      if (context.clock.now() + waitMs < until) {
        busy += 1;
        await pause(context, waitMs, options);
        continue;
      }
    }
    if (meaning === 'answer') {
      const end = await readReply(context, identity, options, id, reply);
      if (end === 'complete') return { value: reply.status };
      if (options.isAnswered?.() === true) return { value: reply.status };
      if (repeatsLeft-- > 0 && !options.closing.aborted) continue;
      throw outcomeUnknown(context, message);
    }
    // 401 and 403 are about credentials, whatever their bodies say.
    const isAnswer = reply.status !== 401 && reply.status !== 403;
    if (isAnswer && id !== undefined && handOnError(message, id, reply, options.onMessage)) {
      return { value: reply.status };
    }
    if (meaning === 'unauthorized') {
      // Servers that tie a session to its token want a new session after a refresh: one is tried.
      if (reply.refreshedInVain && identity.id !== undefined) return { refused: 401 };
      throw withReply(
        unauthorized(context.name, 401, 'sign in again, or check the headers that are sent'),
        reply,
      );
    }
    if (reply.status === 403) {
      throw withReply(unauthorized(context.name, 403, 'these credentials do not allow it'), reply);
    }
    throw httpStatus(context, identity, reply);
  }
}

/** True when the response was handed on; false when it will never come. */
async function readReply(
  context: ServerContext,
  identity: SessionIdentity,
  options: ExchangeOptions,
  id: RequestId | undefined,
  { status, response }: Reply,
): Promise<'complete' | 'incomplete'> {
  if (id === undefined) {
    response.discard();
    return 'complete';
  }
  if (status === 202) {
    response.discard();
    await options.elsewhere();
    return 'complete';
  }
  const from: BrokenOff = { lastId: undefined, retryMs: 0 };
  const handlers = answerHandlers(options, from);
  const end = await readAnswer(response, id, handlers, (ms, fn) => context.clock.after(ms, fn));
  if (end === 'complete') return end;
  if (end === 'too-large')
    throw badResponse(context, options.message, 'more than can be held in memory', status);
  if (options.message.method === DISCOVER) {
    // An empty or garbled reply to the probe is evidence of the older era, not a fault (report R106).
    options.onMessage(errorResponse(id, -32601, 'the probe was not answered in JSON-RPC'));
    return 'complete';
  }
  if (end === 'unreadable') {
    const type = mediaType(response.header('content-type')) || 'no content type';
    throw badResponse(context, options.message, `${type} that holds no response to it`, status);
  }
  if (from.lastId === undefined) return 'incomplete';
  const resumed = await resume(context, identity, options, id, from);
  return resumed ? 'complete' : 'incomplete';
}

function isRepeatable(context: ServerContext, message: Message): boolean {
  if (!isRequest(message)) return false;
  if (message.method === 'tools/call') return context.memory.isRepeatable(message.params?.name);
  return isReadMethod(message.method);
}

function extraHeaders(message: Message, asked: ReadonlyMap<string, string> | undefined): Map<string, string> {
  const headers = new Map(asked ?? []);
  for (const [name, value] of bodyDerivedHeaders(message)) headers.set(name, value);
  return headers;
}

/** An error body that answers this very request is its answer, whatever the HTTP status says (report R035). */
function handOnError(
  message: Message,
  id: RequestId,
  { status, errorText }: Reply,
  onMessage: (message: Message) => void,
): boolean {
  const answer = parseMessages(errorText)?.find((item) => item.error !== undefined);
  if (answer?.id !== undefined && answer.id !== null && idKey(answer.id) === idKey(id)) {
    onMessage(answer);
    return true;
  }
  // A server of the older era has no such method; it says so in many ways (reports R095, R106).
  if (message.method === DISCOVER && status >= 400 && status < 500) {
    const { code = -32601, message: text = `HTTP ${status}`, data } = answer?.error ?? {};
    onMessage(errorResponse(id, code, text, data));
    return true;
  }
  return false;
}

/** What a request is sent with only where the caller asked for it. */
function optional({ notAfter, abandoned, onResponse, lane }: ExchangeOptions): Partial<SessionRequest> {
  return {
    ...(notAfter === undefined ? {} : { notAfter }),
    ...(abandoned === undefined ? {} : { abandoned }),
    ...(onResponse === undefined ? {} : { onResponse }),
    ...(lane === undefined ? {} : { lane }),
  };
}
