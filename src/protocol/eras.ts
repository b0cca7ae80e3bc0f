/**
 * The two eras of Streamable HTTP: `stateful` up to 2025-11-25, `stateless` from 2026-07-28 on.
 * Era is a property of each hop (report R122), read off the version that this hop agreed on.
 */

export type Era = 'stateful' | 'stateless';

/** Revisions with the Streamable HTTP transport, oldest first. */
export const KNOWN_VERSIONS = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

/** First revision without sessions. */
const STATELESS_FROM = '2026-07-28';
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The era of a revision. Names that are no date (drafts) count by what they say they are: stateful. */
export function eraOf(version: string): Era {
  return DATE.test(version) && version >= STATELESS_FROM ? 'stateless' : 'stateful';
}

export function isKnownVersion(version: string): boolean {
  return (KNOWN_VERSIONS as readonly string[]).includes(version) || version === '2024-11-05';
}

/** MCP: a request without the header is read as 2025-03-26 where nothing else is known. */
export const ASSUMED_VERSION = '2025-03-26';
