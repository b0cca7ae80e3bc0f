/**
 * What to do with one request, decided before a header of the answer is written (reports R022, R046); pure but
 * for the look into the table.
 * Owns: the order of the checks. A dead id is 404 whatever else is wrong with the request (report R049).
 * Refuses: Host, Origin, credentials and the stateless era; all of them are settled before.
 */
import { eraOf, isKnownVersion } from '../../protocol/eras.js';
import { isSessionId, singleValue } from '../../protocol/headers.js';
import { isRequest, type Message } from '../../protocol/jsonrpc.js';
import { badRequest, methodNotAllowed, notJsonRpc, type Refusal, sessionNotFound } from './refusal.js';
import type { InboundSession } from './session.js';

/** A header as the adapter found it: several values as an array, or joined with commas. */
export type HeaderValue = string | readonly string[] | null | undefined;

export interface InboundRequest {
  method: string;
  principal: string;
  sessionId: HeaderValue;
  protocolVersion: HeaderValue;
  lastEventId?: HeaderValue;
  /** Body of a POST. `messages` is undefined when it is no JSON-RPC; a batch of one is a batch. */
  body?: { messages: readonly Message[] | undefined; isBatch: boolean };
}

export interface RouteOptions {
  find: (id: string, principal: string) => InboundSession | undefined;
  /** True when a Last-Event-ID names the stream of a call, not the listening stream. */
  isCallEvent: (lastEventId: string, session: InboundSession) => boolean;
  /** @default any revision of the stateful era that is known */
  isVersion?: (version: string) => boolean;
}

export type InboundDecision =
  /** Reserve a place and open a session; whatever id or version the headers carry does not count. */
  | { action: 'initialize'; message: Message }
  | { action: 'post'; session: InboundSession; messages: readonly Message[]; version: string }
  /** The listening GET: ask `session.listen` before a header is written. */
  | { action: 'listen'; session: InboundSession; lastEventId: string | undefined; version: string }
  /** A GET that takes up a call's stream: outside the rule of one listening stream. */
  | { action: 'resume'; session: InboundSession; lastEventId: string; version: string }
  | { action: 'delete'; session: InboundSession }
  | { action: 'refuse'; refusal: Refusal };

/** The one revision in which a body may be an array (report R107). */
const BATCH_VERSION = '2025-03-26';

const isStatefulVersion = (version: string): boolean =>
  isKnownVersion(version) && eraOf(version) === 'stateful';

const refuse = (refusal: Refusal): InboundDecision => ({ action: 'refuse', refusal });

export function routeInbound(request: InboundRequest, options: RouteOptions): InboundDecision {
  const { method, body } = request;
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return refuse(methodNotAllowed());

  if (method === 'POST') {
    const opening = body?.messages?.find((message) => isRequest(message) && message.method === 'initialize');
    if (opening !== undefined) {
      if (body?.isBatch === true) return refuse(badRequest('initialize must not be part of a batch'));
      return { action: 'initialize', message: opening };
    }
  }

  const found = findSession(request, options);
  if ('status' in found) return refuse(found);
  const session = found;

  const version = versionOf(request.protocolVersion, session, options.isVersion ?? isStatefulVersion);
  if (version === undefined) return refuse(badRequest('unknown MCP-Protocol-Version'));

  if (method === 'DELETE') return { action: 'delete', session };
  if (method === 'GET') {
    const lastEventId = singleEventId(request.lastEventId);
    return lastEventId !== undefined && options.isCallEvent(lastEventId, session)
      ? { action: 'resume', session, lastEventId, version }
      : { action: 'listen', session, lastEventId, version };
  }
  if (body?.isBatch === true) {
    if (session.protocolVersion !== BATCH_VERSION) {
      return refuse(badRequest(`a batch is not supported in ${session.protocolVersion}`));
    }
    if (body.messages === undefined || body.messages.length === 0) {
      return refuse(badRequest('the batch is empty, or not all of it is JSON-RPC'));
    }
  }
  if (body?.messages === undefined) return refuse(notJsonRpc());
  return { action: 'post', session, messages: body.messages, version };
}

function findSession(
  { sessionId, principal }: InboundRequest,
  options: RouteOptions,
): InboundSession | Refusal {
  if (sessionId === undefined || sessionId === null || sessionId.length === 0) {
    return badRequest('Mcp-Session-Id is missing; only initialize goes without');
  }
  // A comma is a character that an id may have, so the value as it stands comes first.
  const id = isSessionId(sessionId) ? sessionId : singleValue(sessionId);
  if (!isSessionId(id)) return badRequest('Mcp-Session-Id is malformed');
  return options.find(id, principal) ?? sessionNotFound();
}

/** The session's own version where the header is missing (report R094); undefined when it names an unknown one. */
function versionOf(
  header: HeaderValue,
  session: InboundSession,
  isVersion: (version: string) => boolean,
): string | undefined {
  if (header === undefined || header === null) return session.protocolVersion;
  const version = singleValue(header);
  if (version === undefined) return undefined;
  return version === session.protocolVersion || isVersion(version) ? version : undefined;
}

function singleEventId(header: HeaderValue): string | undefined {
  const value = typeof header === 'string' ? header : header?.[0];
  return value === undefined || value === '' ? undefined : value;
}
