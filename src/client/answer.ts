/**
 * Reads the answer to one POST: JSON or an event stream, to the response that was waited for.
 * Owns: when an answer counts as complete, and the last event id from which it can be resumed.
 * Refuses: to hand on what is no JSON-RPC message (report R046); it is reported and the answer goes on.
 */
import { EVENT_STREAM, JSON_TYPE, mediaType } from '../protocol/headers.js';
import { idKey } from '../protocol/ids.js';
import { isResponse, type Message, parseMessages, type RequestId } from '../protocol/jsonrpc.js';
import { createSseReader, SseTooLargeError } from '../protocol/sse.js';
import { BodyTooLargeError, readText, WireError, type WireResponse } from './wire.js';

export interface AnswerHandlers {
  onMessage(message: Message): void;
  onEventId(id: string): void;
  onRetry(ms: number): void;
  onGarbage(what: string): void;
}

export type AnswerEnd =
  /** The response has been delivered. */
  | 'complete'
  /** The body ended, or broke off, before it. */
  | 'incomplete'
  /** The answer is neither JSON nor an event stream. */
  | 'unreadable'
  /** One message is longer than may be held. */
  | 'too-large';

/** How long the rest of a stream may take after the response, ms: a body read to its end keeps the connection. */
const TAIL_MS = 1_000;

/** Rejects only with the reason of an abort. */
export async function readAnswer(
  response: WireResponse,
  wanted: RequestId,
  handlers: AnswerHandlers,
  after: (ms: number, fn: () => void) => { cancel(): void },
): Promise<AnswerEnd> {
  const type = mediaType(response.header('content-type'));
  if (type === EVENT_STREAM) return readStream(response, wanted, handlers, after);
  if (type !== JSON_TYPE) {
    response.discard();
    return 'unreadable';
  }
  let text: string;
  try {
    text = await readText(response);
  } catch (error) {
    return endOf(error);
  }
  const messages = parseMessages(text);
  if (messages === undefined) return 'unreadable';
  // An error that names nobody, as the only answer to one request, is the answer to that one.
  const [only] = messages;
  if (messages.length === 1 && only?.error !== undefined && only.id === null) only.id = wanted;
  let complete = false;
  for (const message of messages) {
    complete ||= answers(message, wanted);
    handlers.onMessage(message);
  }
  return complete ? 'complete' : 'unreadable';
}

async function readStream(
  response: WireResponse,
  wanted: RequestId,
  handlers: AnswerHandlers,
  after: (ms: number, fn: () => void) => { cancel(): void },
): Promise<AnswerEnd> {
  return new Promise((resolve, reject) => {
    let complete = false;
    const reader = createSseReader({
      onEvent({ event, data }) {
        if (event !== 'message') return;
        const messages = parseMessages(data);
        if (messages === undefined) {
          handlers.onGarbage(data.slice(0, 200));
          return;
        }
        for (const message of messages) {
          handlers.onMessage(message);
          if (complete || !answers(message, wanted)) continue;
          complete = true;
          resolve('complete');
          tail = after(TAIL_MS, () => response.discard());
        }
      },
      onId: handlers.onEventId,
      onRetry: handlers.onRetry,
    });
    let tail: { cancel(): void } | undefined;
    void (async () => {
      try {
        for await (const chunk of response.chunks()) reader.push(chunk);
        resolve('incomplete');
      } catch (error) {
        response.discard();
        try {
          resolve(endOf(error));
        } catch (reason) {
          reject(reason as Error);
        }
      } finally {
        tail?.cancel();
      }
    })();
  });
}

function answers(message: Message, wanted: RequestId): boolean {
  return isResponse(message) && idKey(message.id) === idKey(wanted);
}

/** How an answer ended that could not be read to its end; throws the reason of an abort. */
function endOf(error: unknown): AnswerEnd {
  if (error instanceof WireError) return 'incomplete';
  if (error instanceof BodyTooLargeError || error instanceof SseTooLargeError) return 'too-large';
  throw error;
}
