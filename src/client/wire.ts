/**
 * What the client needs of HTTP, and nothing else: one request, one response, told apart by lanes.
 * Two implementations: undici-wire.ts (ours) and fetch-wire.ts (the host's own `fetch`).
 */

/** Which connections a request may use: calls share a pool, a listening stream has one of its own. */
export type Lane = 'call' | 'listen';

export interface WireRequest {
  method: 'POST' | 'GET' | 'DELETE';
  url: URL;
  headers: ReadonlyMap<string, string>;
  body?: string;
  signal: AbortSignal;
  /** Once this is aborted nobody waits for the answer: it must not keep the process alive. */
  abandoned?: AbortSignal;
  lane: Lane;
}

export interface WireResponse {
  status: number;
  /** One header, by lower-case name. */
  header(name: string): string | undefined;
  setCookie: readonly string[];
  /** The body, once. Rejects when the connection is lost. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Lets go of a body that nobody will read. */
  discard(): void;
}

export interface Wire {
  /** Rejects with a {@link WireError}, or with the signal's reason. */
  send(request: WireRequest): Promise<WireResponse>;
  /** From now on no connection keeps the process alive. */
  unref(): void;
}

/** There was no response. */
export class WireError extends Error {
  /** False only when not one byte of the request can have reached the server. */
  readonly written: boolean;

  constructor(written: boolean, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'WireError';
    this.written = written;
  }
}

/** Longest body that is held in one piece, bytes. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

export class BodyTooLargeError extends Error {}

/** The whole body as text; with `cut` only its first bytes, and the rest is let go. */
export async function readText(response: WireResponse, { cut }: { cut?: number } = {}): Promise<string> {
  const decoder = new TextDecoder('utf-8');
  const limit = cut ?? MAX_BODY_BYTES;
  let text = '';
  let bytes = 0;
  for await (const chunk of response.chunks()) {
    bytes += chunk.byteLength;
    text += decoder.decode(chunk, { stream: true });
    if (bytes < limit) continue;
    response.discard();
    if (cut !== undefined) return text;
    throw new BodyTooLargeError(`the answer is longer than ${MAX_BODY_BYTES} bytes`);
  }
  return text + decoder.decode();
}
