/**
 * Goes on with the stream of an answer that broke off: GET with Last-Event-ID, never a second POST (report R077).
 * Owns: how often and how long; the last event id.
 * Refuses: to go on once close has begun.
 */
import { sleep } from '../clock.js';
import { EVENT_STREAM, LAST_EVENT_ID } from '../protocol/headers.js';
import type { RequestId } from '../protocol/jsonrpc.js';
import { createBackoff } from '../session/backoff.js';
import { linkedController } from '../session/waiting.js';
import { type AnswerEnd, type AnswerHandlers, readAnswer } from './answer.js';
import type { ExchangeOptions } from './exchange-options.js';
import type { ServerContext } from './server-context.js';
import { type SessionIdentity, sendForSession } from './session-http.js';
import { WireError } from './wire.js';

/** Delays between tries of one request, ms. */
export const RETRY = { baseMs: 250, capMs: 5_000 };
/** Resumptions in a row that bring nothing. */
const MAX_FRUITLESS = 5;
/** The server's own `retry:` is believed up to this, ms. */
const MAX_RETRY_MS = 60_000;

/** Where a stream broke off. */
export interface BrokenOff {
  lastId: string | undefined;
  /** What the server asked to wait, ms; 0 for nothing. */
  retryMs: number;
}

export function answerHandlers(options: ExchangeOptions, from: BrokenOff): AnswerHandlers {
  return {
    onMessage: options.onMessage,
    onGarbage: (what) => options.onGarbage?.(what),
    onEventId: (eventId) => {
      from.lastId = eventId;
      options.onEventId?.(eventId);
    },
    onRetry: (ms) => {
      from.retryMs = Math.min(ms, MAX_RETRY_MS);
    },
  };
}

/** Goes on with a stream that broke off, by GET with Last-Event-ID (report R077); true when the response came. */
export async function resume(
  context: ServerContext,
  identity: SessionIdentity,
  options: ExchangeOptions,
  id: RequestId,
  start: BrokenOff,
): Promise<boolean> {
  const from: BrokenOff = { ...start };
  const handlers = answerHandlers(options, from);
  const backoff = createBackoff(RETRY);
  for (let fruitless = 0; fruitless < MAX_FRUITLESS; fruitless += 1) {
    await pause(context, from.retryMs > 0 ? Math.max(from.retryMs, RETRY.baseMs) : backoff.next(), options);
    const before = from.lastId;
    let end: AnswerEnd;
    try {
      const reply = await sendForSession(context, identity, {
        method: 'GET',
        accept: EVENT_STREAM,
        extra: new Map([[LAST_EVENT_ID, from.lastId ?? '']]),
        signal: options.signal,
      });
      options.onHeaders?.(reply);
      if (reply.status >= 500 || reply.status === 429) continue;
      if (reply.status >= 300) return false;
      end = await readAnswer(reply.response, id, handlers, (ms, fn) => context.clock.after(ms, fn));
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      continue;
    }
    if (end === 'complete') return true;
    if (end !== 'incomplete') return false;
    if (from.lastId !== before) {
      fruitless = -1;
      backoff.reset();
    }
  }
  return false;
}

/** Waits before another try; rejects when there is to be none. */
export async function pause(
  context: ServerContext,
  ms: number,
  { signal, closing }: ExchangeOptions,
): Promise<void> {
  const { controller, unlink } = linkedController(signal, closing);
  try {
    await sleep(context.clock, ms, controller.signal);
  } finally {
    unlink();
  }
}
