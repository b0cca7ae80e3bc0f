/**
 * Calls of a `fetch`, each to where it belongs: a session that Mooring keeps, or the real `fetch`.
 * Owns: recognising MCP by its `initialize`; the core, made with the first session.
 * Refuses: to load, hook or time anything before that.
 */
import { setMaxListeners } from 'node:events';
import { MooringError } from '../../errors.js';
import type { WithId } from '../../protocol/jsonrpc.js';
import { type Core, createCore, type LedgerOption } from '../core.js';
import type { FetchLike } from '../fetch-wire.js';
import { readServerOptions, type ServerOptions } from '../options.js';
import { neverSettles } from '../sdk-transport.js';
import { type Call, type Init, type Input, readCall } from './call.js';
import { createFetchSessions, refusedOpen } from './fetch-sessions.js';

export interface FetchHandler {
  /** `base` makes the very call that was asked for; it is used for everything that is not MCP. */
  handle(input: Input, init: Init, base: () => Promise<Response>): Promise<Response>;
  /** Ends every session. Never rejects. */
  close(): Promise<void>;
}

export interface FetchHandlerOptions {
  bounds: Omit<ServerOptions, 'url'>;
  hooks: boolean;
  ledger?: LedgerOption;
  /** Who carries the requests of the session that this call opens. @default Mooring's own HTTP client */
  wireFor(call: Call): FetchLike | undefined;
}

export function createFetchHandler({ bounds, hooks, ledger, wireFor }: FetchHandlerOptions): FetchHandler {
  let core: Core | undefined;
  let closed: Promise<void> | undefined;

  const theCore = (): Core => {
    core ??= createCore({
      hooks,
      ...(ledger === undefined ? {} : { ledger }),
      release: (deadlineMs) => sessions.close('signal', { drainMs: 0, deleteMs: deadlineMs }),
      rest: () => sessions.rest(),
    });
    return core;
  };
  const sessions = createFetchSessions(theCore);

  const open = (call: Call, initialize: WithId & { method: string }): Promise<Response> => {
    if (closed !== undefined) return refusedOpen(call, initialize, closedError(call.url.host));
    const settings = readServerOptions('createFetch', { ...bounds, url: call.url });
    return sessions.open(call, initialize, { settings, wire: wireFor(call) });
  };

  const route = async (call: Call, base: () => Promise<Response>): Promise<Response> => {
    const session = sessions.find(call);
    if (session !== undefined) {
      manyListeners(call);
      if (call.method === 'POST') return session.post(call);
      return call.method === 'GET' ? session.listen(call) : session.remove(call);
    }
    const initialize = await call.initialize();
    if (initialize === undefined) return base();
    manyListeners(call);
    return open(call, initialize);
  };

  return {
    async handle(input, init, base) {
      const call = readCall(input, init);
      if (call === undefined || (core === undefined && !call.mayInitialize)) return base();
      const response = await route(call, base);
      // A rejection now is one that no library expects; the signal ends the process.
      return core?.isEnding === true ? neverSettles() : response;
    },
    close() {
      closed ??= sessions.close('closed').then(() => core?.retire());
      return closed;
    },
  };
}

/** A library has one signal for all its requests; the real fetch raises its limit as well. */
function manyListeners({ signal }: Call): void {
  if (signal !== undefined) setMaxListeners(0, signal);
}

function closedError(server: string): MooringError {
  return new MooringError('MOORING_CLOSED', `this fetch was closed; create another for ${server}`, {
    server,
  });
}
