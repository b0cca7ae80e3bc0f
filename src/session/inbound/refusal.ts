/**
 * How the inbound side says no: HTTP status, headers and JSON-RPC error body, all from the one table of errors.ts.
 * Owns: the wording of each refusal. The ids of other sessions, and which principal owns what, are never in it
 * (report R065).
 */
import { CODES, type MooringCode } from '../../errors.js';
import { JSON_TYPE } from '../../protocol/headers.js';
import { errorResponse, type Message } from '../../protocol/jsonrpc.js';
import type { ListenRefusal } from './listening-slot.js';

/** A complete answer: write it as it is. */
export interface Refusal {
  readonly code: MooringCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Message;
}

/** Methods of a Streamable HTTP endpoint. */
const ALLOWED_METHODS = ['GET', 'POST', 'DELETE'] as const;

interface Exception {
  status?: number;
  rpc?: number;
  headers?: Record<string, string>;
}

function refusal(code: MooringCode, message: string, exception: Exception = {}): Refusal {
  const { status = CODES[code].status, rpc = CODES[code].rpc, headers = {} } = exception;
  return Object.freeze({
    code,
    status,
    headers: Object.freeze({ 'content-type': JSON_TYPE, ...headers }),
    body: errorResponse(null, rpc, message),
  });
}

const retryAfter = (ms: number): Record<string, string> => ({
  'retry-after': String(Math.max(1, Math.ceil(ms / 1000))),
});

/** 404: unknown, ended, or another principal's; the three cannot be told apart (report R062). */
export const sessionNotFound = (): Refusal => refusal('MOORING_SESSION_NOT_FOUND', 'Session not found');

/** 400: the request itself breaks the protocol. */
export const badRequest = (message: string): Refusal =>
  refusal('MOORING_BAD_REQUEST', `Bad Request: ${message}`);

/** 400 for a body that is no JSON-RPC. */
export const notJsonRpc = (): Refusal =>
  refusal('MOORING_BAD_REQUEST', 'Parse error: the body is no JSON-RPC message', { rpc: -32700 });

/** 405, with Allow. */
export const methodNotAllowed = (): Refusal =>
  refusal('MOORING_BAD_REQUEST', 'Method not allowed', {
    status: 405,
    headers: { allow: ALLOWED_METHODS.join(', ') },
  });

/** 503: the table, or the caller's part of it, is full and nothing may be evicted. */
export const tableFull = (retryAfterMs: number): Refusal =>
  refusal('MOORING_TABLE_FULL', 'Too many sessions, and none of them may be ended now; try again later', {
    headers: retryAfter(retryAfterMs),
  });

/** 503: no new session is taken any more. */
export const shuttingDown = (): Refusal =>
  refusal('MOORING_CLOSED', 'This server is shutting down', { headers: retryAfter(1_000) });

/** 503: the reservation ran out, or was released, before this came. */
export const startGivenUp = (): Refusal =>
  refusal('MOORING_CLOSED', 'initialize took longer than it may, or was given up; try again', {
    headers: retryAfter(1_000),
  });

const CONFLICTS = {
  rate: 'this session opens its listening stream too often',
  alive: 'this session has a listening stream, and it is alive',
  challenged: 'this session has a listening stream, and it is being asked whether it is alive',
} as const;

/** The answer to a listening GET that did not get the slot: 409, or 404 when its session ended meanwhile. */
export function listenRefused(why: ListenRefusal): Refusal {
  if (why === 'session-ended' || why === 'aborted') return sessionNotFound();
  return refusal('MOORING_STREAM_CONFLICT', `Conflict: ${CONFLICTS[why]}`);
}
