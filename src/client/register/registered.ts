/**
 * What the preload loads with the first `initialize`: the handler, with the bounds of the environment.
 * Owns: whose connections carry a session's requests: Mooring's, unless the program has arranged its own.
 */
import type { Init, Input } from '../fetch/call.js';
import { createFetchHandler } from '../fetch/handler.js';
import { asOwn } from '../own-request.js';
import { createDispatchFetch } from './dispatch/dispatch-fetch.js';
import type { Dispatch, DispatchHandler, DispatchOptions } from './dispatch/handler.js';
import { intercept } from './dispatch/intercept.js';
import { createLog } from './log.js';
import { readEnvironment } from './environment.js';

export interface Registered {
  handle(input: Input, init: Init, plain: () => Promise<Response>): Promise<Response>;
  /** `base` is the dispatcher's own `dispatch`, bound to it. */
  dispatch(dispatcher: object, base: Dispatch, options: DispatchOptions, handler: DispatchHandler): void;
}

/** Where undici keeps the dispatcher of a process; a later major uses the second. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
/** What Node and undici set by themselves; bundlers rename classes with a number. */
const DEFAULTS = /^_*(?:Agent|EnvHttpProxyAgent|Dispatcher1Wrapper)\d*$/;

export function createRegistered(base: typeof globalThis.fetch): Registered {
  const { bounds, isLogged } = readEnvironment(process.env);
  if (isLogged) createLog();
  const { handle, claim } = createFetchHandler({
    bounds,
    hooks: true,
    wireFor({ dispatcher }) {
      if (dispatcher === undefined && !hasOwnDispatcher()) return undefined;
      // A proxy, a certificate, a log of its own: the program's requests go the way that it has chosen.
      return (url, init) => base(url, (dispatcher === undefined ? init : { ...init, dispatcher }) as Init);
    },
  });
  return {
    // What was looked at here is not looked at again where it is dispatched.
    handle: (input, init, plain) => handle(input, init, () => asOwn(plain)),
    dispatch(dispatcher, dispatch, options, handler) {
      const asItWas: Dispatch = (wanted, answered) => asOwn(() => dispatch(wanted, answered));
      const wire = isOwn(dispatcher) ? createDispatchFetch(asItWas) : undefined;
      void intercept(claim, options, handler, (given) => void asItWas(given, handler), wire);
    },
  };
}

/** The program has set a dispatcher of its own for the whole process. */
function hasOwnDispatcher(): boolean {
  const slots = globalThis as Record<symbol, unknown>;
  return DISPATCHERS.some((slot) => {
    const dispatcher = slots[slot];
    return typeof dispatcher === 'object' && dispatcher !== null && isOwn(dispatcher);
  });
}

/** Another class than the usual ones, or one with its own way to connect. */
function isOwn(dispatcher: object): boolean {
  return !DEFAULTS.test(dispatcher.constructor.name) || connectsByItself(dispatcher);
}

/** undici keeps an agent's options under a symbol of that name; certificates and sockets are in `connect`. */
function connectsByItself(dispatcher: object): boolean {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find(
    ({ description }) => description === 'options',
  );
  if (symbol === undefined) return false;
  const options = (dispatcher as Record<symbol, { connect?: unknown } | undefined>)[symbol];
  return options?.connect !== undefined && options.connect !== null;
}
