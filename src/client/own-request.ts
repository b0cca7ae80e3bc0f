/**
 * The mark on Mooring's own requests, by which the preload lets them pass; a `fetch` ignores what it does not know.
 */
export const OWN: unique symbol = Symbol.for('mooring.own-request.v1') as never;
