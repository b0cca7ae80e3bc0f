/**
 * The credentials of a library that says them itself, with each request.
 * Owns: what it said last. Refuses: to refresh; the library does.
 */
import type { ServerContext } from '../server-context.js';
import { hostHeaders } from './call.js';

/** Who a library is towards the server: what it said with its latest request. */
export function createSpokenCredentials(headers: Headers): {
  credentials: ServerContext['credentials'];
  heard(headers: Headers): void;
} {
  let latest = hostHeaders(headers);
  const ask = (): Promise<Map<string, string>> => Promise.resolve(new Map(latest));
  return {
    credentials: {
      headers: ask,
      // The library refreshes by itself; it may have done so in the meantime.
      refresh: (used) =>
        Promise.resolve(
          latest.size !== used.size || [...latest].some(([name, value]) => used.get(name) !== value),
        ),
      finish: () => Promise.resolve(),
    },
    heard(next) {
      latest = hostHeaders(next);
    },
  };
}
