/**
 * What one `initialize` of ours brought: identity, version, what the server declared.
 * Owns: sending `initialize` and reading its answer.
 * Refuses: to lose an id: one that came with a failed `initialize` is handed on to be ended.
 */
import { MooringError } from '../errors.js';
import { createCookieJar } from '../protocol/cookies.js';
import { isSessionId, SESSION_ID } from '../protocol/headers.js';
import { isRequest, isResponse, type Message, type WithId } from '../protocol/jsonrpc.js';
import type { ListKind } from '../session/outbound/list-changes.js';
import type { OpenOutcome } from '../session/outbound/opener.js';
import { exchange } from './exchange.js';
import { redact } from './failures.js';
import type { ServerContext } from './server-context.js';
import type { SessionIdentity } from './session-http.js';

export interface OpenedSession extends SessionIdentity {
  /** The response to `initialize`, as the server sent it. */
  response: WithId;
  /** Kinds of lists whose changes the server declared. */
  declared: ReadonlySet<ListKind>;
}

/** The server answered `initialize` with a JSON-RPC error: the host gets that very answer. */
export class InitializeRefused extends MooringError {
  readonly response: Message;

  constructor(context: ServerContext, identity: SessionIdentity, response: Message) {
    const { code = 0, message = '' } = response.error ?? {};
    const shown = redact(context, identity, message);
    super('MOORING_OPEN_FAILED', `${context.name} refused initialize: ${shown} (JSON-RPC ${code})`, {
      server: context.name,
    });
    this.response = response;
  }
}

/** Nobody waits that long for an `initialize`; then it is given up, and a server that is still at it is hung. */
const GIVE_UP_MS = 5 * 60_000;

export interface OpenSessionOptions {
  /** Once this is aborted nothing is sent any more. */
  closing: AbortSignal;
  /** Once this is aborted nobody waits for the answer. */
  abandoned: AbortSignal;
  /** How long a server that cannot be reached is tried, ms. */
  insistMs: number;
  /** The server issued this id, whatever else it answered. */
  onId(id: string, identity: SessionIdentity): void;
  /** Whatever else the server sent on the way. */
  onOther(message: Message): void;
}

/** Never rejects. */
export async function openSession(
  context: ServerContext,
  initialize: Message,
  { closing, abandoned, insistMs, onId, onOther }: OpenSessionOptions,
): Promise<OpenOutcome<OpenedSession>> {
  const identity: SessionIdentity = {
    id: undefined,
    version: undefined,
    cookies: createCookieJar(context.settings.url),
    lastHeaders: new Map(),
    credentials: new Map(),
  };
  let answer: WithId | undefined;
  let issued: string | undefined;
  let hintMs: number | undefined;
  const patience = new AbortController();
  const timer = context.clock.after(GIVE_UP_MS, () =>
    patience.abort(new DOMException('initialize was given up', 'TimeoutError')),
  );
  let error: Error | undefined;
  /** Ids that were issued with an answer that was not the last: a 401 before the credentials were refreshed. */
  const earlier: string[] = [];
  const issue = (id: string): void => {
    if (issued !== undefined && issued !== id) earlier.push(issued);
    issued = id;
    // The DELETE at the end of the process takes the headers of the last request, and this one had no id yet.
    identity.lastHeaders = new Map(identity.lastHeaders).set(SESSION_ID, id);
    onId(id, identity);
  };
  try {
    await exchange(context, identity, {
      message: initialize,
      signal: patience.signal,
      closing,
      abandoned,
      notAfter: closing,
      insistMs,
      obeysRetryAfter: false,
      onResponse(response) {
        const id = response.header(SESSION_ID);
        if (id === undefined) return;
        if (isSessionId(id)) issue(id);
        else error = badId(context.name);
      },
      onHeaders({ status, retryAfterMs }) {
        hintMs = status === 429 || status === 503 ? retryAfterMs : undefined;
      },
      onMessage(message) {
        if (isResponse(message)) answer = message;
        else if (!isRequest(message)) onOther(message);
      },
      elsewhere: () => Promise.reject(noAnswer(context.name)),
    });
  } catch (reason) {
    error ??= asOpenFailure(context.name, reason);
  } finally {
    timer.cancel();
  }
  const opened: OpenedSession = Object.assign(identity, {
    id: issued,
    version: negotiatedVersion(answer),
    response: answer ?? { jsonrpc: '2.0', id: 0 },
    declared: declaredKinds(answer),
  });
  if (error === undefined && answer?.error !== undefined)
    error = new InitializeRefused(context, identity, answer);
  if (error === undefined && answer === undefined) error = noAnswer(context.name);
  const others = earlier.map((id) => ({ ...opened, id }));
  if (error === undefined) return others.length === 0 ? { opened } : { opened, left: others };
  const left = issued === undefined ? others : [...others, opened];
  return {
    error,
    ...(left.length === 0 ? {} : { left }),
    ...(hintMs === undefined ? {} : { retryAfterMs: hintMs }),
  };
}

function negotiatedVersion(answer: Message | undefined): string | undefined {
  const version = (answer?.result as { protocolVersion?: unknown } | undefined)?.protocolVersion;
  return typeof version === 'string' ? version : undefined;
}

function declaredKinds(answer: Message | undefined): Set<ListKind> {
  const capabilities = (
    answer?.result as { capabilities?: Record<string, { listChanged?: unknown }> } | undefined
  )?.capabilities;
  const kinds: ListKind[] = ['tools', 'resources', 'prompts'];
  return new Set(kinds.filter((kind) => capabilities?.[kind]?.listChanged === true));
}

function badId(server: string): MooringError {
  return new MooringError(
    'MOORING_OPEN_FAILED',
    `${server} issued a session id that a header cannot carry (visible ASCII, at most 8,192 characters)`,
    { server },
  );
}

function noAnswer(server: string): MooringError {
  return new MooringError('MOORING_OPEN_FAILED', `${server} did not answer initialize`, { server });
}

/** Errors that say what to do keep their code; the rest is a failed open. */
function asOpenFailure(server: string, reason: unknown): Error {
  if (reason instanceof MooringError) {
    if (reason.code !== 'MOORING_OUTCOME_UNKNOWN' && reason.code !== 'MOORING_HTTP_STATUS') return reason;
    const hint = reason.facts.httpStatus === 404 ? '; check the path of the URL' : '';
    return new MooringError(
      'MOORING_OPEN_FAILED',
      `initialize failed: ${reason.message}${hint}`,
      reason.facts,
      {
        cause: reason,
      },
    );
  }
  const text = reason instanceof Error ? reason.message : String(reason);
  return new MooringError(
    'MOORING_OPEN_FAILED',
    `initialize with ${server} failed: ${text}`,
    { server },
    { cause: reason },
  );
}
