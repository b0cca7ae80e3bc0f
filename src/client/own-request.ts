/**
 * What tells the preload that a request is Mooring's own and must pass, however many wrapped layers it meets.
 * Owns: the two names that both sides know: a mark on what undici dispatches, and an async context for a `fetch`,
 * which takes no marks along. Refuses: to make that context; only the preload needs it.
 */

/** On the options of a dispatch; undici ignores what it does not know. */
export const OWN: unique symbol = Symbol.for('mooring.own-request.v1') as never;
/** Where the preload keeps its context, a {@link Passing}. */
const PASSING = Symbol.for('mooring.passing.v1');

/** The part of node:async_hooks' AsyncLocalStorage that is used. */
interface Passing {
  run<T>(store: true, run: () => T): T;
}

/** Runs something whose requests the preload lets pass. */
export function asOwn<T>(run: () => T): T {
  const passing = (globalThis as { [PASSING]?: Passing })[PASSING];
  return passing === undefined ? run() : passing.run(true, run);
}
