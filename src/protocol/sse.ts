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
  /** Any event at all, also one without data. */
  onLife?: () => void;
}

/** 64 Mi characters: far above what a tool answers with, far below what kills a process. */
export const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export class SseTooLargeError extends Error {}

export function createSseReader(handlers: SseHandlers, maxEventChars = MAX_EVENT_CHARS): SseReader {
  const decoder = new TextDecoder('utf-8');
  let held = 0;
  let lastWasCr = false;
  const ids = createIdReader((id) => handlers.onId?.(id));
  const parser = createParser({
    onEvent(event) {
      held = 0;
      handlers.onLife?.();
      if (event.data !== '') handlers.onEvent({ event: event.event ?? 'message', data: event.data });
    },
    onRetry: (ms) => handlers.onRetry?.(ms),
    onComment: () => {
      held = 0;
    },
  });
  return {
    push(chunk) {
      let text = decoder.decode(chunk, { stream: true });
      if (text === '') return;
      // The parser waits for what follows a CR. Each CR ends a line by itself, so it is handed on as LF at once,
      // and an LF that comes next, here or in the next chunk, is its second half.
      if (lastWasCr && text.startsWith('\n')) text = text.slice(1);
      lastWasCr = text === '' ? false : text.endsWith('\r');
      if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
      held += text.length;
      if (held > maxEventChars) {
        throw new SseTooLargeError(`an event is longer than ${maxEventChars} characters`);
      }
      if (text === '') return;
      ids.push(text);
      parser.feed(text);
    },
  };
}

/**
 * Reads the `id:` lines by themselves: the parser hands on an id only with data, but an event that has nothing else
 * (a priming event, and so the first thing to resume from) sets the last event id as well (HTML, 9.2.6).
 */
function createIdReader(onId: (id: string) => void): { push(text: string): void } {
  // The line so far, while it may still be an id line.
  let line: string | undefined = '';
  let pending: string | undefined;
  return {
    push(text) {
      for (let at = 0; at < text.length; ) {
        const end = text.indexOf('\n', at);
        const piece = text.slice(at, end === -1 ? text.length : end);
        if (line !== undefined && 'id:'.startsWith((line + piece).slice(0, 3))) line += piece;
        else line = undefined;
        if (end === -1) return;
        if (line?.startsWith('id:')) pending = line.slice(3).replace(/^ /, '');
        else if (line === '' && pending !== undefined) {
          if (pending !== '' && !pending.includes('\0')) onId(pending);
          pending = undefined;
        }
        line = '';
        at = end + 1;
      }
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
