/**
 * What an HTTP status means for a session: one place, so that client, gateway and checker agree.
 * Owns: the meaning of answers to POST, GET and DELETE; pure.
 * Source: MCP Streamable HTTP, "Session Management" and "Listening for Messages"; reports R014, R026, R044, R047.
 */
import { parseMessages } from './jsonrpc.js';
import { namesLostSession, namesSession } from './refusals.js';

const METHOD_NOT_FOUND = -32601;

/** Meaning of the answer to a POST. */
export type PostMeaning =
  /** Below 300: read the answer. */
  | 'answer'
  /** The server does not know the session that the request carried. */
  | 'refused'
  /** Other credentials are wanted. */
  | 'unauthorized'
  /** Come back later; Retry-After says when. */
  | 'busy'
  /** Anything else: an error of this one request. */
  | 'failed';

export interface PostReply {
  status: number;
  /** The request carried a session id. */
  carriedId: boolean;
  /** WWW-Authenticate was there. */
  challenged: boolean;
  /** Retry-After was there. */
  hasRetryAfter: boolean;
  /** Body of an answer of 400 and above, as text, possibly cut. */
  body: string;
}

export function meaningOfPost(reply: PostReply): PostMeaning {
  const { status, carriedId, body } = reply;
  if (status < 300) return 'answer';
  if (status === 404) return carriedId && !isMethodNotFound(body) ? 'refused' : 'failed';
  if (status === 400) return carriedId && namesLostSession(body) ? 'refused' : 'failed';
  if (status === 401) {
    return carriedId && !reply.challenged && namesSession(body) ? 'refused' : 'unauthorized';
  }
  if ((status === 429 || status === 503) && reply.hasRetryAfter) return 'busy';
  return 'failed';
}

function isMethodNotFound(body: string): boolean {
  return parseMessages(body)?.[0]?.error?.code === METHOD_NOT_FOUND;
}

/** Meaning of the answer to a DELETE. */
export type DeleteMeaning =
  /** The session is no more, or the server does not end sessions on request. */
  | 'confirmed'
  /** Refresh the credentials and try once more. */
  | 'unauthorized'
  /** Try again later. */
  | 'unconfirmed';

/** 2xx, 404, 405 and 501 confirm (report R014). */
export function meaningOfDelete(status: number): DeleteMeaning {
  if ((status >= 200 && status < 300) || status === 404 || status === 405 || status === 501)
    return 'confirmed';
  return status === 401 ? 'unauthorized' : 'unconfirmed';
}

/** Meaning of the answer to the listening GET. */
export type ListenMeaning =
  | 'open'
  /** No stream here: stop asking. */
  | 'not-offered'
  /** A stream had worked before: the session may be gone, one ping POST decides. */
  | 'suspect'
  | 'unauthorized'
  /** Try again with backoff. */
  | 'retry';

export interface ListenReply {
  status: number;
  /** Media type of the answer. */
  isEventStream: boolean;
  /** A listening stream of this session, or of this server, has worked before. */
  hadWorked: boolean;
}

export function meaningOfListen({ status, isEventStream, hadWorked }: ListenReply): ListenMeaning {
  if (status >= 200 && status < 300) return isEventStream ? 'open' : 'not-offered';
  if (status === 405 || status === 406 || status === 501) return 'not-offered';
  // 404 and 400 before any stream ever worked: there is no GET route at all (reports R026, R037).
  if (status === 404) return hadWorked ? 'suspect' : 'not-offered';
  if (status === 400) return hadWorked ? 'retry' : 'not-offered';
  if (status === 401) return 'unauthorized';
  return 'retry';
}
