/**
 * Keys for maps of request ids and progress tokens that keep the JSON type: 1 and "1" are two ids
 * (reports R083, R085).
 */
import type { RequestId } from './jsonrpc.js';

/** A string that is different for every id, also between 1 and "1". */
export function idKey(id: RequestId): string {
  return typeof id === 'number' ? `n${id}` : `s${id}`;
}

/** The progress token of a request's `_meta`, if there is one. */
export function progressToken(params: Record<string, unknown> | undefined): RequestId | undefined {
  const meta = params?._meta;
  if (typeof meta !== 'object' || meta === null) return undefined;
  const token = (meta as { progressToken?: unknown }).progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** The request that a `notifications/cancelled` is about. */
export function cancelledId(params: Record<string, unknown> | undefined): RequestId | undefined {
  const id = params?.requestId;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/**
 * An id that is free in `taken`, of the same JSON type as `wanted`, and `wanted` itself when that is free.
 * Counts up from a start that the caller keeps, so that an id is not used twice.
 */
export function freeId(wanted: RequestId, taken: (key: string) => boolean, next: () => number): RequestId {
  if (!taken(idKey(wanted))) return wanted;
  for (;;) {
    const n = next();
    const candidate = typeof wanted === 'number' ? 1_000_000_000 + n : `${wanted}#${n}`;
    if (!taken(idKey(candidate))) return candidate;
  }
}
