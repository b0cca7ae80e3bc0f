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
    `${context.name} could not be reached: ${error.message}. Check that it is up; nothing was sent`,
    { server: context.name },
    { cause: error.cause },
  );
}

/** Ids never leave in full: a server may have put ours into its text. */
export function httpStatus(context: ServerContext, identity: SessionIdentity, reply: Reply): MooringError {
  const shown =
    identity.id === undefined
      ? reply.errorText
      : reply.errorText.replaceAll(identity.id, context.fingerprint(identity.id));
  return new MooringError(
    'MOORING_HTTP_STATUS',
    `${context.name} answered HTTP ${reply.status}${shown === '' ? '' : `: ${shown.slice(0, 300)}`}`,
    {
      server: context.name,
      httpStatus: reply.status,
      ...(reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }),
    },
  );
}
