/** Retry-After: seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now. */

/** Longest wait that is believed, ms: a server that says "tomorrow" is treated as down. */
export const MAX_RETRY_AFTER_MS = 10 * 60_000;

/** Milliseconds to wait, 0 to {@link MAX_RETRY_AFTER_MS}; undefined when there is no usable value. */
export function retryAfterMs(value: string | null | undefined, wallNow: number): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const text = value.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - wallNow;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}
