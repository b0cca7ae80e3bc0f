/**
 * `createFetch`: the way in for every library that takes a `fetch`.
 * Owns: its options. Refuses: to change anything about a call that is not MCP.
 */
import { MooringError } from '../../errors.js';
import type { LedgerOption } from '../core.js';
import { ledgerFault } from '../ledger-option.js';
import { readServerOptions, type ServerOptions } from '../options.js';
import type { Init, Input } from './call.js';
import { createFetchHandler } from './handler.js';

/** How sessions opened through one `fetch` are kept; each server gets the same bounds. */
export interface FetchOptions
  extends Pick<
    ServerOptions,
    | 'maxSessions'
    | 'acquireMs'
    | 'listen'
    | 'streamIdleMs'
    | 'idleMs'
    | 'drainMs'
    | 'deleteMs'
    | 'exitMs'
    | 'fetch'
  > {
  /** False leaves signals and the end of the process to the host. @default true */
  hooks?: boolean | undefined;
  /** The record of sessions that outlives a crash: none, or another folder. @default on */
  ledger?: LedgerOption | undefined;
}

/** A `fetch`, and the end of everything that was opened through it. */
export type MooringFetch = typeof globalThis.fetch & {
  /** Ends every session that was opened through it, each with one DELETE. Never rejects. */
  close(): Promise<void>;
};

/**
 * A `fetch` for MCP libraries that take one: sessions are opened, re-opened, bounded and ended behind it, under the
 * one id that the library knows. Everything that is not MCP goes to the real `fetch` as it is. Errors of Mooring's
 * come as JSON-RPC errors for the posted id, with `data.code`; only the caller's own abort rejects.
 *
 * @param options bounds, all optional; durations in milliseconds
 * @throws MooringError MOORING_BAD_OPTIONS
 * @example
 * ```ts
 * const fetch = createFetch();
 * const client = await createMCPClient({ transport: { type: 'http', url: 'http://127.0.0.1:5757/mcp', fetch } });
 * await client.close(); // one DELETE
 * ```
 */
export function createFetch(options: FetchOptions = {}): MooringFetch {
  const { hooks = true, ledger, ...bounds } = options;
  // Misspelt options are told now, not with the first request.
  readServerOptions('createFetch', { ...bounds, url: 'http://localhost/' });
  const fault = ledgerFault(ledger);
  if (fault !== undefined) throw new MooringError('MOORING_BAD_OPTIONS', `createFetch: ${fault}`);
  const base = (options.fetch ?? globalThis.fetch) as typeof globalThis.fetch;
  const { handle, close } = createFetchHandler({
    bounds,
    hooks,
    ...(ledger === undefined ? {} : { ledger }),
    wireFor({ dispatcher }) {
      if (options.fetch !== undefined || dispatcher === undefined) return options.fetch;
      // undici's own option: connections are made the library's way.
      return (url, init) => base(url, { ...init, dispatcher } as unknown as Init);
    },
  });
  const own = (input: Input, init?: Init): Promise<Response> => handle(input, init, () => base(input, init));
  return Object.assign(own as typeof globalThis.fetch, { close });
}
