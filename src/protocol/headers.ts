/**
 * Names and syntax of the HTTP headers that MCP uses.
 * Owns: the names (lower case), the syntax of a session id, media types, composing headers without doubles.
 * Refuses: values that a header cannot carry; HTTP reads names without regard to case (reports R091, R092).
 */

export const SESSION_ID = 'mcp-session-id';
export const PROTOCOL_VERSION = 'mcp-protocol-version';
export const LAST_EVENT_ID = 'last-event-id';
export const JSON_TYPE = 'application/json';
export const EVENT_STREAM = 'text/event-stream';

/** Longest session id that is taken; real servers issue 32 to 700 characters. */
export const MAX_SESSION_ID_LENGTH = 8192;

/** MCP: "it MUST only contain visible ASCII characters (ranging from 0x21 to 0x7E)". */
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** True when `value` can be a session id. */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_SESSION_ID_LENGTH && VISIBLE_ASCII.test(value);
}

/**
 * One value out of a header that may have been sent more than once.
 * Identical values count as one (report R091); different ones as undefined.
 */
export function singleValue(value: string | readonly string[] | null | undefined): string | undefined {
  if (value === null || value === undefined) return undefined;
  const parts = (typeof value === 'string' ? value.split(',') : value).map((part) => part.trim());
  const [first] = parts;
  return first !== undefined && first !== '' && parts.every((part) => part === first) ? first : undefined;
}

/** The media type without parameters, lower case; '' when there is none. */
export function mediaType(contentType: string | null | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Any shape of headers that a host may hand over, as name -> value with lower-case names; later ones win. */
export function toHeaderMap(init: HeadersLike | undefined): Map<string, string> {
  const map = new Map<string, string>();
  if (init === undefined || init === null) return map;
  const entries: Iterable<readonly [string, string]> =
    Symbol.iterator in init ? (init as Iterable<readonly [string, string]>) : Object.entries(init);
  for (const [name, value] of entries) {
    if (value !== undefined && value !== null) map.set(name.toLowerCase(), String(value));
  }
  return map;
}

/** Headers in one order, so that two maps can be compared as text. */
export function sortedHeaders(
  headers: Iterable<readonly [string, string]>,
): Array<readonly [string, string]> {
  return [...headers].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** What `HeadersInit` is in the browser's types, spelt out so that no DOM types are needed. */
export type HeadersLike = Iterable<readonly [string, string]> | Record<string, string>;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// A field value: no control characters but the tab; undici would throw later and name nothing.
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why a header cannot be sent, in words, or undefined when it can. */
export function headerFault(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return `header name ${JSON.stringify(name)} has characters that HTTP does not allow`;
  if (!FIELD_VALUE.test(value)) return `the value of header ${name} has characters that HTTP does not allow`;
  return undefined;
}
