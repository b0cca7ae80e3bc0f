/**
 * What the preload loads with the first `initialize`: the handler, with the bounds of the environment.
 * Owns: whose connections carry a session's requests: Mooring's, unless the program has arranged its own.
 */
import type { Init, Input } from '../fetch/call.js';
import { createFetchHandler } from '../fetch/handler.js';
import { createLog } from './log.js';
import { readEnvironment } from './environment.js';

export interface Registered {
  handle(input: Input, init: Init, plain: () => Promise<Response>): Promise<Response>;
}

/** Where undici keeps the dispatcher of a process; a later major uses the second. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
/** What Node and undici set by themselves: no wish of the program's. */
const DEFAULTS = new Set(['Agent', 'EnvHttpProxyAgent', 'Dispatcher1Wrapper']);

export function createRegistered(base: typeof globalThis.fetch): Registered {
  const { bounds, isLogged } = readEnvironment(process.env);
  if (isLogged) createLog();
  const { handle } = createFetchHandler({
    bounds,
    hooks: true,
    wireFor({ dispatcher }) {
      if (dispatcher === undefined && !hasOwnDispatcher()) return undefined;
      // A proxy, a certificate, a log of its own: the program's requests go the way that it has chosen.
      return (url, init) => base(url, (dispatcher === undefined ? init : { ...init, dispatcher }) as Init);
    },
  });
  return { handle };
}

/** The program has set a dispatcher of its own. */
function hasOwnDispatcher(): boolean {
  const slots = globalThis as Record<symbol, unknown>;
  return DISPATCHERS.some((slot) => {
    const dispatcher = slots[slot];
    return (
      typeof dispatcher === 'object' && dispatcher !== null && !DEFAULTS.has(dispatcher.constructor.name)
    );
  });
}
