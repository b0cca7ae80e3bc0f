/**
 * The library's GET, held here: it costs the server nothing, and carries what comes on the real listening stream.
 * Owns: the one stream that the library reads, and what came while it had none.
 * Refuses: to keep more than a bounded number of messages for somebody who does not come back.
 */
import type { Message } from '../../protocol/jsonrpc.js';
import { formatEvent, SSE_HEADERS } from '../../protocol/sse.js';
import { at } from './post-reply.js';

export interface HeldStream {
  /** The response to a GET; it replaces an earlier one. */
  open(url: URL, signal: AbortSignal | undefined): Response;
  push(message: Message): void;
  /** The session is over. */
  end(): void;
  /** The library has asked for a stream, once at least. */
  readonly wasAsked: boolean;
  readonly isOpen: boolean;
}

/** Messages that are kept for a library between two GETs; the oldest go first. */
const MAX_WAITING = 256;

/** `onLeft`: the library let go of its stream. */
export function createHeldStream(onLeft: () => void): HeldStream {
  const encoder = new TextEncoder();
  const waiting: Message[] = [];
  let current: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wasAsked = false;

  const write = (message: Message): void => {
    current?.enqueue(encoder.encode(formatEvent({ event: 'message', data: JSON.stringify(message) })));
  };

  return {
    open(url, signal) {
      signal?.throwIfAborted();
      wasAsked = true;
      current?.close();
      let own: ReadableStreamDefaultController<Uint8Array>;
      const left = (): void => {
        if (current !== own) return;
        current = undefined;
        onLeft();
      };
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          own = controller;
          current = controller;
        },
        cancel: left,
      });
      signal?.addEventListener(
        'abort',
        () => {
          if (current !== own) return;
          own.error(signal.reason);
          left();
        },
        { once: true },
      );
      for (const message of waiting.splice(0)) write(message);
      return at(url, new Response(body, { headers: SSE_HEADERS }));
    },
    push(message) {
      if (current !== undefined) write(message);
      else if (wasAsked) {
        waiting.push(message);
        if (waiting.length > MAX_WAITING) waiting.shift();
      }
    },
    end() {
      const last = current;
      current = undefined;
      last?.close();
    },
    get wasAsked() {
      return wasAsked;
    },
    get isOpen() {
      return current !== undefined;
    },
  };
}
