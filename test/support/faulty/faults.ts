/**
 * Everything that the faulty server can be told to do wrong. Nothing is wrong by default, and each may be
 * changed while the server runs. Lists are used up in turn; an empty list means "as it should be".
 */
import type { SseStyle } from './sse-writer.js';

/** How a listening GET is answered. */
export type GetFault =
  /** An event stream, ended by the server after `endAfterMs`, opened with `retry:` when `retryMs` is given. */
  | { kind: 'stream'; endAfterMs?: number; retryMs?: number }
  /** A plain answer. */
  | { kind: 'status'; status: number; contentType?: string; body?: string }
  /** No response headers, ever. */
  | { kind: 'silent' }
  /** 200 text/event-stream, and its end at once. */
  | { kind: 'eof' };

/** How one `tools/call` goes wrong. */
export type CallFault =
  /** The tool runs; then the socket is destroyed before any byte of a response. */
  | { kind: 'destroy' }
  /** SSE begins, the tool runs, the socket is destroyed. With `ids` the answer can be resumed by Last-Event-ID. */
  | { kind: 'cut'; ids: boolean }
  /** The tool does not run; a plain answer instead, after `delayMs`. */
  | {
      kind: 'status';
      status: number;
      body?: unknown;
      headers?: Record<string, string>;
      delayMs?: number;
    }
  /** The tool does not run; 200 text/event-stream with this one event, and the end. */
  | { kind: 'event'; data: string };

/** A plain answer, with Retry-After when given. */
export interface PlainAnswer {
  status: number;
  retryAfter?: string;
  /** JSON body. */
  body?: unknown;
}

export interface Faults {
  get: GetFault;
  /** Pings the client on its listening stream this often; 0: never. */
  pingEveryMs: number;
  calls: CallFault[];
  /** Answers to DELETE, in turn; `hang` is never answered. */
  deletes: (PlainAnswer | 'hang')[];
  /** Answers to initialize, in turn, before it works. */
  initializes: PlainAnswer[];
  /** The session exists, and its id is told, only this long after the request. */
  initializeDelayMs: number;
  /** How an unknown id is refused. */
  refuse: { status: number; body: unknown };
  /** Sessions that the table holds; one more evicts the oldest. */
  capacity: number;
  /** False: two backends behind a round robin, each with its own sessions. */
  affinity: boolean;
  /** Requests served at once; an open GET counts until it ends. */
  workers: number;
  /** `Bearer` token that every request must carry; undefined: none. */
  token: string | undefined;
  /** Whether the 401 carries WWW-Authenticate. */
  challenge: boolean;
  /** JSON body of the 401. */
  unauthorizedBody: unknown;
  /** Every request to the endpoint is redirected there: a path of this origin, or a whole URL. */
  redirect: { status: 307 | 308; to: string } | undefined;
  /** Sets a cookie on initialize, and wants it on each later request of that session. */
  cookie: boolean;
  /** Issues no id and offers neither GET nor DELETE. */
  stateless: boolean;
  answer: 'json' | 'sse';
  sse: SseStyle;
  /** How the name of the session header is spelt. */
  sessionHeader: string;
  /** Content type of JSON answers; undefined: none. */
  jsonType: string | undefined;
}

export function noFaults(): Faults {
  return {
    get: { kind: 'stream' },
    pingEveryMs: 0,
    calls: [],
    deletes: [],
    initializes: [],
    initializeDelayMs: 0,
    refuse: {
      status: 404,
      body: { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null },
    },
    capacity: Number.POSITIVE_INFINITY,
    affinity: true,
    workers: Number.POSITIVE_INFINITY,
    token: undefined,
    challenge: true,
    unauthorizedBody: { error: 'unauthorized' },
    redirect: undefined,
    cookie: false,
    stateless: false,
    answer: 'sse',
    sse: { newline: '\n', multiline: false, cutBytes: 0, comments: false },
    sessionHeader: 'Mcp-Session-Id',
    jsonType: 'application/json',
  };
}
