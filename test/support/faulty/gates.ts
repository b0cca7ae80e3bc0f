/**
 * What stands in front of a server: a redirect, a token, a cookie. True means that the request was answered here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from '../../../demo/http-server.js';
import type { Faults, PlainAnswer } from './faults.js';

/** The endpoint's path, and where redirects within the origin lead by default. */
export const ENDPOINT = '/mcp';

export function redirected(req: IncomingMessage, res: ServerResponse, { redirect }: Faults): boolean {
  if (redirect === undefined || req.url !== ENDPOINT) return false;
  res.writeHead(redirect.status, { location: redirect.to }).end();
  return true;
}

export function unauthorized(req: IncomingMessage, res: ServerResponse, faults: Faults): boolean {
  if (faults.token === undefined || req.headers.authorization === `Bearer ${faults.token}`) return false;
  const headers: Record<string, string> = faults.challenge
    ? { 'www-authenticate': 'Bearer realm="test"' }
    : {};
  sendJson(res, 401, faults.unauthorizedBody, headers);
  return true;
}

/** A request of a session that came without that session's cookie, or with another's. */
export function cookieMissing(
  req: IncomingMessage,
  res: ServerResponse,
  faults: Faults,
  cookie: string,
): boolean {
  if (!faults.cookie) return false;
  const sent = (req.headers.cookie ?? '').split(/;\s*/).filter((pair) => pair.startsWith('route='));
  if (sent.length === 1 && sent[0] === cookie) return false;
  sendJson(res, 421, { error: 'wrong backend: the cookie of this session is missing' });
  return true;
}

export function answerPlainly(res: ServerResponse, { status, retryAfter, body }: PlainAnswer): void {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  if (status === 204) res.writeHead(204, headers).end();
  else sendJson(res, status, body ?? { status }, headers);
}
