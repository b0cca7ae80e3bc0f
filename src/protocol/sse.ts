/**
 * Server-sent events, both ways: reading with eventsource-parser, writing ours.
 * Owns: LF, CRLF and CR cut anywhere, multi-line data, split UTF-8 (reports R097, R098); a bound on one event.
 * Refuses: to hold more than `maxEventChars` of one event; comments and empty data are not messages.
 */
import { createParser } from 'eventsource-parser';

export interface SseEvent {
  /** `message` when the server named none. */
  event: string;
  /** Never empty: events without data carry only an id, see `onId`. */
  data: string;
}

export interface SseReader {
  /** Takes bytes as they come, cut anywhere. */
  push(chunk: Uint8Array): void;
}

export interface SseHandlers {
  onEvent: (event: SseEvent) => void;
  /** Last event id, also of events without data (priming events). */
  onId?: (id: string) => void;
  /** `retry:` in milliseconds. */
  onRetry?: (ms: number) => void;
}

/** Longer ids are none: no header could carry them back. */
const MAX_ID_CHARS = 8_192;

/** 64 Mi characters: far above what a tool answers with, far below what kills a process. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export class SseTooLargeError extends Error {}

export function createSseReader(handlers: SseHandlers, maxEventChars = MAX_EVENT_CHARS): SseReader {
  const decoder = new TextDecoder('utf-8');
  const line = createLineWatch();
  let held = 0;
  let lastWasCr = false;
  const parser = createParser({
    onEvent({ event = 'message', data }) {
      if (data !== '') handlers.onEvent({ event, data });
    },
    onRetry: (ms) => handlers.onRetry?.(ms),
  });

  const hold = (chars: number): void => {
    held += chars;
    if (held > maxEventChars)
      throw new SseTooLargeError(`an event is longer than ${maxEventChars} characters`);
  };

  return {
    push(chunk) {
      let text = decoder.decode(chunk, { stream: true });
      if (text === '') return;
      // The parser waits for what follows a CR. Each CR ends a line by itself, so it is handed on as LF at once,
      // and an LF that comes next, here or in the next chunk, is its second half.
      if (lastWasCr && text.startsWith('\n')) text = text.slice(1);
      lastWasCr = text === '' ? false : text.endsWith('\r');
      if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
      // Event by event, so that an id is known before its event and not before the one that precedes it.
      let from = 0;
      for (let at = 0; at < text.length; ) {
        const end = text.indexOf('\n', at);
        line.add(text.slice(at, end === -1 ? text.length : end));
        if (end === -1) break;
        at = end + 1;
        if (!line.end()) continue;
        hold(at - from);
        const id = line.takeId();
        if (id !== undefined) handlers.onId?.(id);
        parser.feed(text.slice(from, at));
        held = 0;
        from = at;
      }
      if (from === text.length) return;
      hold(text.length - from);
      parser.feed(from === 0 ? text : text.slice(from));
    },
  };
}

/**
 * Watches for the ends of events and for their ids. The parser hands on an id only with data, but an event that has
 * nothing else (a priming event, the first thing to resume from) sets the last event id as well (HTML, 9.2.6).
 */
function createLineWatch(): {
  /** A piece of the current line. */
  add(piece: string): void;
  /** The line has ended; true when it was empty, which ends an event. */
  end(): boolean;
  /** The id of the event that has ended, if it had a usable one. */
  takeId(): string | undefined;
} {
  // The line so far while it may still be an id line, undefined once it cannot.
  let line: string | undefined = '';
  let id: string | undefined;
  return {
    add(piece) {
      if (line === undefined) return;
      const head = (line + piece.slice(0, 3)).slice(0, 3);
      line = 'id:'.startsWith(head) && line.length + piece.length <= MAX_ID_CHARS ? line + piece : undefined;
    },
    end() {
      const isEmpty = line === '';
      if (line?.startsWith('id:')) id = line.slice(3).replace(/^ /, '');
      line = '';
      return isEmpty;
    },
    takeId() {
      const taken = id;
      id = undefined;
      return taken === undefined || taken === '' || taken.includes('\0') ? undefined : taken;
    },
  };
}

/** Headers of every event stream that we write: nothing between may hold, compress or cache it (report R103). */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** How often a comment is written on a quiet stream, ms. */
export const SSE_KEEPALIVE_MS = 15_000;
export const SSE_KEEPALIVE = ': keepalive\n\n';

/** One event as text. Line ends inside the data become data lines of their own. */
export function formatEvent(event: { id?: string; event?: string; data: string; retryMs?: number }): string {
  let text = '';
  if (event.event !== undefined) text += `event: ${event.event}\n`;
  if (event.id !== undefined) text += `id: ${event.id}\n`;
  if (event.retryMs !== undefined) text += `retry: ${event.retryMs}\n`;
  for (const line of event.data.split(/\r\n|\r|\n/)) text += `data: ${line}\n`;
  return `${text}\n`;
}
