/**
 * HTTP/1.1 by undici: a pool for calls, a connection of its own for each listening stream.
 * Owns: the agents and what keeps the process alive. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured.
 * Refuses: undici's own timeouts (reports R100, R104): deadlines are set where they have a meaning.
 */
import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool, request } from 'undici';
import { OWN } from './own-request.js';
import { type Wire, WireError, type WireRequest, type WireResponse } from './wire.js';

/** An idle connection is dropped after this long, or a second before the server's own hint, ms. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MARGIN_MS = 1_000;
const CONNECT_TIMEOUT_MS = 10_000;

const AGENT_OPTIONS = {
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
} as const;

/** A program may use this very copy of undici, and then the preload watches it. */
const MARKED = { [OWN]: true };

type OnSocket = (socket: Socket) => void;

/** Options that an agent hands to its factory; undici leaves them untyped. */
interface FactoryOptions {
  connect?: buildConnector.connector | buildConnector.BuildOptions | null;
}

function watchSockets(connect: FactoryOptions['connect'], onSocket: OnSocket): buildConnector.connector {
  const base =
    typeof connect === 'function' ? connect : buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...connect });
  return (options, callback) =>
    base(options, (...result: Parameters<buildConnector.Callback>) => {
      // A failure brings no second argument, whatever the types say.
      if (result[1]) onSocket(result[1] as Socket);
      callback(...result);
    });
}

function createAgent(onSocket: OnSocket, single: boolean): Dispatcher {
  return new EnvHttpProxyAgent({
    ...AGENT_OPTIONS,
    factory: (origin, options) => {
      const given = options as FactoryOptions;
      const own = { ...given, connect: watchSockets(given.connect, onSocket) };
      return single ? new Client(origin, own) : new Pool(origin, own);
    },
  });
}

/**
 * Notes the moment from which bytes may have been written: the handler's first callback, which undici makes
 * right before it writes to a connected socket. The handler is this request's own, so it may be added to.
 */
function markWritten(handler: Dispatcher.DispatchHandler, mark: { written: boolean }): void {
  for (const name of ['onConnect', 'onRequestStart'] as const) {
    const inner = handler[name] as ((...args: unknown[]) => void) | undefined;
    if (inner === undefined) continue;
    Object.defineProperty(handler, name, {
      value(this: unknown, ...args: unknown[]) {
        mark.written = true;
        inner.apply(this, args);
      },
    });
  }
}

export function createUndiciWire(): Wire {
  const sockets = new Set<Socket>();
  let isUnrefed = false;
  /** Requests that somebody waits for, and ones that nobody does. */
  let awaited = 0;
  let abandoned = 0;
  const calls = createAgent((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (isUnrefed) socket.unref();
    // One that connects only now, for a request that nobody waits for any more.
    letGo();
  }, false);

  // Which socket carries which request is undici's to know. When nobody waits for any of them, none may keep the
  // process; idle ones are unrefed already, and undici refs a socket again when it gives it another request.
  function letGo(): void {
    if (awaited === 0 && abandoned > 0) for (const socket of sockets) socket.unref();
  }

  /** Counts a request; the result is called when it is over. */
  const count = (signal: AbortSignal | undefined): (() => void) => {
    let isAbandoned = false;
    const onAbandoned = (): void => {
      isAbandoned = true;
      awaited -= 1;
      abandoned += 1;
      letGo();
    };
    awaited += 1;
    if (signal?.aborted) onAbandoned();
    else signal?.addEventListener('abort', onAbandoned, { once: true });
    return () => {
      signal?.removeEventListener('abort', onAbandoned);
      if (isAbandoned) abandoned -= 1;
      else awaited -= 1;
      letGo();
    };
  };

  const send = async (wanted: WireRequest): Promise<WireResponse> => {
    const mark = { written: false };
    // A stream that only listens never keeps the process alive, not even while it waits for its headers.
    const own = wanted.lane === 'listen' ? createAgent((socket) => socket.unref(), true) : undefined;
    const dispatcher = (own ?? calls).compose((dispatch) => (options, handler) => {
      markWritten(handler, mark);
      return dispatch({ ...options, ...MARKED }, handler);
    });
    let response: Dispatcher.ResponseData;
    const over = own === undefined ? count(wanted.abandoned) : () => {};
    try {
      response = await request(wanted.url, {
        dispatcher,
        method: wanted.method,
        headers: Object.fromEntries(wanted.headers),
        body: wanted.body ?? null,
        signal: wanted.signal,
      });
    } catch (error) {
      over();
      void own?.destroy().catch(() => {});
      if (wanted.signal.aborted) throw wanted.signal.reason;
      throw new WireError(mark.written, error);
    }
    const { body, headers } = response;
    // Errors of a body that nobody reads any more have nowhere to go.
    body.on('error', () => {});
    body.once('close', () => {
      over();
      void own?.destroy().catch(() => {});
    });
    return {
      status: response.statusCode,
      header: (name) => first(headers[name]),
      setCookie: asList(headers['set-cookie']),
      async *chunks() {
        try {
          for await (const chunk of body) yield chunk as Uint8Array;
        } catch (error) {
          if (wanted.signal.aborted) throw wanted.signal.reason;
          throw new WireError(true, error);
        }
      },
      discard: () => {
        body.destroy();
      },
    };
  };

  return {
    send,
    unref() {
      isUnrefed = true;
      for (const socket of sockets) socket.unref();
    },
  };
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function asList(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
