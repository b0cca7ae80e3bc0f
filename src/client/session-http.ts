/**
 * Requests of one session: its id, version and cookies on each, credentials asked for each time.
 * Owns: composing headers, hops (cookies, one same-origin redirect), one refresh after a 401.
 * Refuses: another origin's redirect; to let a host's headers override the protocol's.
 */
import { wallNow } from '../clock.js';
import { MooringError } from '../errors.js';
import type { CookieJar } from '../protocol/cookies.js';
import { PROTOCOL_VERSION, SESSION_ID } from '../protocol/headers.js';
import { meaningOfPost } from '../protocol/meaning.js';
import { retryAfterMs } from '../protocol/retry-after.js';
import { untilAborted } from '../session/waiting.js';
import type { ServerContext } from './server-context.js';
import { type Lane, readText, type WireResponse } from './wire.js';

/** What identifies one session towards the server. */
export interface SessionIdentity {
  id: string | undefined;
  /** Negotiated protocol version; undefined before `initialize` was answered. */
  version: string | undefined;
  readonly cookies: CookieJar;
  /** Headers of its last request; the DELETE at the end of the process takes them. */
  lastHeaders: ReadonlyMap<string, string>;
  /** The part of them that came from the host: who we are. */
  credentials: ReadonlyMap<string, string>;
}

export interface SessionRequest {
  method: 'POST' | 'GET' | 'DELETE';
  accept: string;
  body?: string;
  /** Headers of this request alone; they win over the session's. */
  extra?: ReadonlyMap<string, string>;
  signal: AbortSignal;
  /** Nobody calls for it just now: a DELETE, the listening GET. */
  background?: boolean;
  /** Once this is aborted nothing is sent any more; what was sent goes on. */
  notAfter?: AbortSignal;
  /** Once this is aborted a 401 is final: nothing is sent a second time. */
  noRetryAfter?: AbortSignal;
  /** Once this is aborted nobody waits: the request does not keep the process alive. */
  abandoned?: AbortSignal;
  /** Each response, before its body: also one that is followed by a second try. */
  onResponse?(response: WireResponse): void;
  lane?: Lane;
}

/** A response whose body, from 400 on, has been read. */
export interface Reply {
  status: number;
  response: WireResponse;
  /** Body of an answer of 400 and above, cut at 1 MiB; '' below. */
  errorText: string;
  retryAfterMs: number | undefined;
  /** 401 even after the credentials were refreshed. */
  refreshedInVain: boolean;
}

const ERROR_TEXT_BYTES = 1024 * 1024;

/** Sends one request of a session; rejects with a WireError, the signal's reason, or a MooringError. */
export async function sendForSession(
  context: ServerContext,
  identity: SessionIdentity,
  request: SessionRequest,
): Promise<Reply> {
  const headers = await composeHeaders(context, identity, request);
  const used = identity.credentials;
  const reply = await sendOnce(context, identity, request, headers);
  if (reply.status !== 401) return reply;
  const challenged = reply.response.header('www-authenticate') !== undefined;
  const meaning = meaningOfPost({
    status: 401,
    carriedId: identity.id !== undefined,
    challenged,
    hasRetryAfter: false,
    body: reply.errorText,
  });
  if (meaning !== 'unauthorized') return reply;
  if (request.noRetryAfter?.aborted === true) return reply;
  const refreshing = context.credentials.refresh(used, reply.response, asking(context, request));
  if (!(await untilAborted(refreshing, request.signal))) return reply;
  const again = await sendOnce(context, identity, request, await composeHeaders(context, identity, request));
  return { ...again, refreshedInVain: again.status === 401 };
}

async function composeHeaders(
  context: ServerContext,
  identity: SessionIdentity,
  request: SessionRequest,
): Promise<Map<string, string>> {
  // A host's function that never answers must not outlive the request's own deadline.
  const headers = await untilAborted(asking(context, request)(), request.signal);
  request.signal.throwIfAborted();
  request.notAfter?.throwIfAborted();
  identity.credentials = new Map(headers);
  context.latest.headers = identity.credentials;
  headers.set('accept', request.accept);
  // Nothing between may hold small events back to compress them (report R103).
  headers.set('accept-encoding', 'identity');
  if (request.body === undefined) headers.delete('content-type');
  else headers.set('content-type', 'application/json');
  headers.delete(SESSION_ID);
  headers.delete(PROTOCOL_VERSION);
  if (identity.id !== undefined) headers.set(SESSION_ID, identity.id);
  if (identity.version !== undefined) headers.set(PROTOCOL_VERSION, identity.version);
  setCookies(headers, identity);
  identity.lastHeaders = new Map(headers);
  for (const [name, value] of request.extra ?? []) headers.set(name, value);
  return headers;
}

/** How the host is asked who it is: now, or as it was when the session was opened. */
function asking(context: ServerContext, { background }: SessionRequest): () => Promise<Map<string, string>> {
  return background === true ? context.background : context.credentials.headers;
}

/** The host's own cookies and those that the server set on this session. */
export function setCookies(headers: Map<string, string>, { cookies, credentials }: SessionIdentity): void {
  const all = [credentials.get('cookie'), cookies.header()].filter((value) => value !== undefined);
  if (all.length > 0) headers.set('cookie', all.join('; '));
}

async function sendOnce(
  context: ServerContext,
  identity: SessionIdentity,
  { method, body, signal, abandoned, onResponse, lane = 'call' }: SessionRequest,
  headers: ReadonlyMap<string, string>,
): Promise<Reply> {
  const send = (url: URL): Promise<WireResponse> =>
    context.wire.send({
      method,
      url,
      headers,
      signal,
      lane,
      ...(body === undefined ? {} : { body }),
      ...(abandoned === undefined ? {} : { abandoned }),
    });
  const url = context.memory.location ?? context.settings.url;
  let response = await send(url);
  if (response.status === 307 || response.status === 308) {
    const target = redirectTarget(context, url, response);
    response.discard();
    response = await send(target);
    if (response.status === 307 || response.status === 308) {
      response.discard();
      throw refusedRedirect(context, 'it redirects a second time');
    }
    context.memory.location = target;
  }
  onResponse?.(response);
  identity.cookies.store(response.setCookie, wallNow());
  const { status } = response;
  if (status >= 300 && status < 400) {
    response.discard();
    throw refusedRedirect(
      context,
      `HTTP ${status} may turn a POST into a GET; only 307 and 308 are followed`,
    );
  }
  return {
    status,
    response,
    errorText: status >= 400 ? await errorText(response) : '',
    retryAfterMs: retryAfterMs(response.header('retry-after'), wallNow()),
    refreshedInVain: false,
  };
}

async function errorText(response: WireResponse): Promise<string> {
  try {
    return await readText(response, { cut: ERROR_TEXT_BYTES });
  } catch {
    // The status says enough; a body that breaks off changes nothing.
    return '';
  }
}

function redirectTarget(context: ServerContext, from: URL, response: WireResponse): URL {
  const location = response.header('location') ?? '';
  if (!URL.canParse(location, from.href)) throw refusedRedirect(context, 'its Location is not a URL');
  const target = new URL(location, from);
  if (target.origin !== from.origin) {
    throw refusedRedirect(
      context,
      `it points to another origin (${target.origin}); configure that URL if you trust it`,
    );
  }
  return target;
}

function refusedRedirect(context: ServerContext, why: string): MooringError {
  return new MooringError(
    'MOORING_REDIRECT_REFUSED',
    `the redirect of ${context.name} was not followed: ${why}`,
    {
      server: context.name,
    },
  );
}
