/**
 * Writes server-sent events the ways the standard allows and few readers are tried with.
 */
import type { ServerResponse } from 'node:http';

export interface SseStyle {
  newline: '\n' | '\r\n' | '\r';
  /** One `data:` line for each line of pretty-printed JSON. */
  multiline: boolean;
  /** Bytes per write, each in a packet of its own; 0: whole events. */
  cutBytes: number;
  /** A comment, an event without data and an unknown field before each event. */
  comments: boolean;
}

export interface SseEvent {
  id?: string;
  retryMs?: number;
  /** A JSON-RPC message; undefined: an event with empty data. */
  message?: unknown;
}

/** Writes the headers of an event stream. */
export function beginSse(res: ServerResponse, headers: Record<string, string | string[]> = {}): void {
  res.socket?.setNoDelay(true);
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers });
  res.flushHeaders();
}

/** Writes one event, and resolves when it was handed to the socket. */
export async function writeSse(res: ServerResponse, event: SseEvent, style: SseStyle): Promise<void> {
  const bytes = Buffer.from(formatEvent(event, style), 'utf8');
  const step = style.cutBytes > 0 ? style.cutBytes : bytes.length;
  for (let i = 0; i < bytes.length && !res.destroyed; i += step) {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        res.off('close', done);
        resolve();
      };
      res.once('close', done);
      res.write(bytes.subarray(i, i + step), done);
    });
  }
}

function formatEvent(event: SseEvent, { newline, multiline, comments }: SseStyle): string {
  const lines: string[] = [];
  if (comments) lines.push(': keepalive', '', 'data:', '', 'unknown: field');
  if (event.id !== undefined) lines.push(`id: ${event.id}`);
  if (event.retryMs !== undefined) lines.push(`retry: ${event.retryMs}`);
  if (event.message === undefined) lines.push('data:');
  else {
    const json = JSON.stringify(event.message, null, multiline ? 1 : undefined);
    lines.push('event: message', ...json.split('\n').map((line) => `data: ${line}`));
  }
  return [...lines, '', ''].join(newline);
}
