/**
 * The wire over the host's own `fetch`: same contract, but connections, proxies and keep-alive are the host's.
 * Refuses: redirects (ours follows the rules of hops); whether bytes were written is unknown, so "yes" is assumed,
 * but for errors that say the connection was never made.
 */
import { asOwn } from './own-request.js';
import { type Wire, WireError, type WireResponse } from './wire.js';

/** The part of `Response` that is used. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: {
    get(name: string): string | null;
    getSetCookie?(): string[];
  };
  readonly body: {
    getReader(): BodyReader;
    cancel(reason?: unknown): Promise<void>;
  } | null;
}

/** The part of a stream reader that is used. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** What a host's `fetch` is called with. */
export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
  redirect: 'manual';
}

/** `globalThis.fetch`, undici's, or anything like them. */
export type FetchLike = (url: URL, init: FetchInit) => Promise<FetchResponse>;

const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The first code that an error or one of its causes has. */
export function causeCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string') return code;
    if (at instanceof AggregateError && at.errors[0] !== undefined) return causeCode(at.errors[0]);
  }
  return undefined;
}

export function createFetchWire(fetchLike: FetchLike): Wire {
  return {
    async send({ method, url, headers, body, signal }): Promise<WireResponse> {
      let response: FetchResponse;
      try {
        const init: FetchInit = {
          method,
          headers: Object.fromEntries(headers),
          signal,
          redirect: 'manual',
          ...(body === undefined ? {} : { body }),
        };
        response = await asOwn(() => fetchLike(url, init));
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw new WireError(!NEVER_CONNECTED.has(causeCode(error) ?? ''), error);
      }
      // A body that is being read can only be let go by its reader.
      let reader: BodyReader | undefined;
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        setCookie: response.headers.getSetCookie?.() ?? [],
        async *chunks() {
          reader = response.body?.getReader();
          if (reader === undefined) return;
          try {
            for (;;) {
              const { done, value } = await reader.read();
              if (done) return;
              if (value !== undefined) yield value;
            }
          } catch (error) {
            if (signal.aborted) throw signal.reason;
            throw new WireError(true, error);
          } finally {
            reader.cancel().catch(() => {});
          }
        },
        discard: () => {
          (reader ?? response.body)?.cancel().catch(() => {});
        },
      };
    },
    unref() {},
  };
}
