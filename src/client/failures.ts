/**
 * How the failures of one request are put into words. Refuses: ids and credentials.
 */
import { MooringError } from '../errors.js';
import type { Message } from '../protocol/jsonrpc.js';
import type { ServerContext } from './server-context.js';
import type { Reply, SessionIdentity } from './session-http.js';
import type { WireError } from './wire.js';

export function outcomeUnknown(context: ServerContext, message: Message, cause?: unknown): MooringError {
  return new MooringError(
    'MOORING_OUTCOME_UNKNOWN',
    `the connection to ${context.name} was lost after ${message.method ?? 'a message'} had been sent: ` +
      'it may or may not have run. Check before you repeat it',
    { server: context.name },
    { cause },
  );
}

export function unreachable(context: ServerContext, error: WireError): MooringError {
  return new MooringError(
    'MOORING_OPEN_FAILED',
    `${context.name} could not be reached: ${error.message}. Check the URL, and that it is up; nothing was sent`,
    { server: context.name, isUnsent: true },
    { cause: error.cause },
  );
}

/** One message was sent and nothing came back in time. */
export function unanswered(
  context: ServerContext,
  { method = 'a message' }: Message,
  ms: number,
): MooringError {
  return new MooringError(
    'MOORING_OPEN_FAILED',
    `${context.name} did not answer ${method} within ${ms} ms; check that it is up, and what lies between`,
    { server: context.name },
  );
}

/** What a server answered, for those who must hand it on as it was. */
const replies = new WeakMap<Error, Reply>();

/** Remembers the answer that an error is about. */
export function withReply<E extends Error>(error: E, reply: Reply): E {
  replies.set(error, reply);
  return error;
}

/** The answer that an error, or one of its causes, is about. */
export function replyOf(error: unknown): Reply | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const reply = replies.get(at);
    if (reply !== undefined) return reply;
  }
  return undefined;
}

export function httpStatus(context: ServerContext, identity: SessionIdentity, reply: Reply): MooringError {
  const shown = redact(context, identity, reply.errorText).slice(0, 300);
  const error = new MooringError(
    'MOORING_HTTP_STATUS',
    `${context.name} answered HTTP ${reply.status}${shown === '' ? '' : `: ${shown}`}`,
    {
      server: context.name,
      httpStatus: reply.status,
      ...(reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }),
    },
  );
  return withReply(error, reply);
}

/** The answer holds no response to the request, or more than can be held. */
export function badResponse(
  context: ServerContext,
  message: Message,
  what: string,
  httpStatus: number,
): MooringError {
  return new MooringError(
    'MOORING_BAD_RESPONSE',
    `${context.name} answered ${message.method ?? 'a request'} with ${what}; check that the URL is an MCP endpoint`,
    { server: context.name, httpStatus },
  );
}

/** Shorter values are no secrets, and replacing them would garble the text. */
const SECRET_LENGTH = 6;

/** A server may repeat what it was sent: ids and credentials become fingerprints. */
export function redact(context: ServerContext, identity: SessionIdentity, text: string): string {
  const { id, credentials, cookies } = identity;
  const secrets = [...credentials].flatMap(([, value]) => [value, value.replace(/^\S+\s+/, '')]);
  for (const jar of [credentials.get('cookie'), cookies.header()]) {
    for (const pair of jar?.split(';') ?? []) secrets.push(pair.slice(pair.indexOf('=') + 1).trim());
  }
  if (id !== undefined) secrets.push(id);
  return secrets
    .filter((secret) => secret.length >= SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, context.fingerprint(secret)), text);
}
