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
import type { LibrarySession } from './library-session.js';

export interface FetchHandler {
  /** `base` makes the very call that was asked for; it is used for everything that is not MCP. */
  handle(input: Input, init: Init, base: () => Promise<Response>): Promise<Response>;
  /**
   * What `handle` would do with a call, not done yet; undefined for what is not MCP, or none of ours. `wire` carries
   * the requests of a session that the call opens. @default what `wireFor` says
   */
  claim(input: Input, init: Init, wire?: FetchLike): Promise<(() => Promise<Response>) | undefined>;
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

  const open = (
    call: Call,
    initialize: WithId & { method: string },
    wire: FetchLike | undefined,
  ): Promise<Response> => {
    if (closed !== undefined) return refusedOpen(call, initialize, closedError(call.url.host));
    const settings = readServerOptions('createFetch', { ...bounds, url: call.url });
    return sessions.open(call, initialize, { settings, wire: wire ?? wireFor(call) });
  };

  const ask = (session: LibrarySession, call: Call): Response | Promise<Response> => {
    if (call.method === 'POST') return session.post(call);
    return call.method === 'GET' ? session.listen(call) : session.remove(call);
  };

  const finish = async (answer: Response | Promise<Response>): Promise<Response> => {
    const response = await answer;
    // A rejection now is one that no library expects; the signal ends the process.
    return core?.isEnding === true ? neverSettles() : response;
  };

  /** At once for a session that is known: what the library does next must not overtake it. */
  const claimed = (
    input: Input,
    init: Init,
    wire?: FetchLike,
  ): (() => Promise<Response>) | Promise<(() => Promise<Response>) | undefined> | undefined => {
    const call = readCall(input, init);
    if (call === undefined || (core === undefined && !call.mayInitialize)) return undefined;
    const session = sessions.find(call);
    if (session !== undefined) {
      return () => {
        manyListeners(call);
        return finish(ask(session, call));
      };
    }
    return call.initialize().then((initialize) => {
      if (initialize === undefined) return undefined;
      return () => {
        manyListeners(call);
        return finish(open(call, initialize, wire));
      };
    });
  };

  return {
    claim: async (input, init, wire) => claimed(input, init, wire),
    async handle(input, init, base) {
      const claim = claimed(input, init);
      const run = typeof claim === 'function' ? claim : await claim;
      return run === undefined ? base() : run();
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
