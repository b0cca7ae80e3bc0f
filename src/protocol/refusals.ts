/**
 * How servers say "I do not know this session" when they do not say 404.
 * One short list, each entry with its source; a 400 is a refusal only when its body has one of these.
 */

interface KnownMessage {
  /** Lower case; matched anywhere in the body, without regard to case. */
  text: string;
  source: string;
}

export const KNOWN_SESSION_MESSAGES: readonly KnownMessage[] = [
  {
    text: 'no valid session',
    source: 'examples of the TypeScript SDK ("Bad Request: No valid session ID provided")',
  },
  { text: 'invalid session', source: 'mark3labs/mcp-go ("Invalid session ID"); report R044' },
  { text: 'session not found', source: 'MCP SDKs with 400 in place of 404; reports R044, R046' },
  { text: 'unknown session', source: 'servers of report R044' },
  { text: 'session expired', source: 'servers of reports R044, R050' },
  {
    text: 'server not initialized',
    source: 'TypeScript SDK transport that has seen no initialize ("Bad Request: Server not initialized")',
  },
];

/** True when the body names a session that the server does not know. */
export function namesLostSession(body: string): boolean {
  const lower = body.slice(0, 4096).toLowerCase();
  return KNOWN_SESSION_MESSAGES.some(({ text }) => lower.includes(text));
}

/** A 401 names the session itself only with one of these, and without a challenge. */
export function namesSession(body: string): boolean {
  return namesLostSession(body) || /\bsession\b/i.test(body.slice(0, 4096));
}
