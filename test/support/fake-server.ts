/**
 * An MCP server without sockets: a Wire whose answers come when the test says so, and how.
 * Owns: the server's own account of sessions, DELETEs and tool runs, which the properties are held against.
 */
import type { Wire, WireRequest, WireResponse } from '../../src/client/wire.js';
import { WireError } from '../../src/client/wire.js';

/** How one request goes. */
export type Outcome =
  | 'answer'
  /** The connection breaks before the server has read it; bytes were written. */
  | 'lost-before'
  /** It runs, and the connection breaks before the answer. */
  | 'lost-after'
  /** The connection was never made. */
  | 'unreachable'
  /** HTTP 500. */
  | 'error'
  /** 503 with Retry-After: 1. */
  | 'busy';

export interface PendingRequest {
  request: WireRequest;
  method: string;
  settle(outcome: Outcome): void;
}

interface Account {
  deletesRunning: number;
  deletesConfirmed: number;
  deletesTried: number;
  /** The server forgot it by itself. */
  forgotten: boolean;
  /** It told the client so, with a 404. */
  refused: boolean;
  /** The answer that carried the id was lost: nobody can know of it. */
  unknowable: boolean;
}

export interface FakeServer {
  readonly wire: Wire;
  /** Requests that wait for their outcome, oldest first. */
  readonly pending: PendingRequest[];
  /** Every id ever issued. */
  readonly accounts: Map<string, Account>;
  readonly alive: Set<string>;
  /** Runs of each tool call, by its key. */
  readonly runs: Map<string, number>;
  /** HTTP requests by kind since the start: `initialize`, `tools/call`, `GET`, `DELETE`, ... */
  readonly counts: Map<string, number>;
  /** Two DELETEs for one id at once, or a second confirmed one. */
  readonly violations: string[];
  /** Forgets every session; with which status it says so. */
  forget(status: 404 | 400): void;
  /** GETs are answered with a stream that ends when the client lets go; otherwise 405. */
  streams: boolean;
  /** Streams that are open. */
  openStreams: number;
  /** `cap` sessions at most: the oldest goes. */
  cap: number;
}

export function fakeServer(): FakeServer {
  const pending: PendingRequest[] = [];
  const accounts = new Map<string, Account>();
  const alive = new Set<string>();
  const runs = new Map<string, number>();
  const counts = new Map<string, number>();
  const violations: string[] = [];
  let refusal: 404 | 400 = 404;
  let issued = 0;

  const answer = (request: WireRequest, method: string): WireResponse => {
    const id = request.headers.get('mcp-session-id');
    const body = request.body === undefined ? undefined : JSON.parse(request.body);
    if (method === 'initialize') {
      issued += 1;
      const sid = `session-${issued}`;
      accounts.set(sid, {
        deletesRunning: 0,
        deletesConfirmed: 0,
        deletesTried: 0,
        forgotten: false,
        refused: false,
        unknowable: false,
      });
      alive.add(sid);
      if (alive.size > server.cap) {
        const [oldest] = alive;
        if (oldest !== undefined) {
          alive.delete(oldest);
          (accounts.get(oldest) as Account).forgotten = true;
        }
      }
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } } };
      return json(200, { jsonrpc: '2.0', id: body.id, result }, { 'mcp-session-id': sid });
    }
    const account = id === undefined ? undefined : accounts.get(id);
    if (id === undefined || !alive.has(id)) {
      if (account !== undefined && (refusal === 404 || request.method === 'DELETE')) account.refused = true;
      if (request.method === 'DELETE') return text(404, 'Session not found');
      return refusal === 404
        ? text(404, 'Session not found')
        : text(400, 'Bad Request: No valid session ID provided');
    }
    if (request.method === 'DELETE') {
      alive.delete(id);
      return text(200, '');
    }
    if (request.method === 'GET') return server.streams ? stream(request.signal) : text(405, '');
    if (body.id === undefined) return text(202, '');
    const key = body.params?.arguments?.key;
    if (key !== undefined) runs.set(key, (runs.get(key) ?? 0) + 1);
    return json(200, { jsonrpc: '2.0', id: body.id, result: { key, session: id } });
  };

  const stream = (signal: AbortSignal): WireResponse => ({
    ...text(200, '', { 'content-type': 'text/event-stream' }),
    async *chunks() {
      server.openStreams += 1;
      try {
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
        yield new Uint8Array();
      } finally {
        server.openStreams -= 1;
      }
    },
  });

  const server: FakeServer = {
    pending,
    accounts,
    alive,
    runs,
    counts,
    violations,
    streams: false,
    openStreams: 0,
    cap: Number.POSITIVE_INFINITY,
    forget(status) {
      refusal = status;
      for (const id of alive) (accounts.get(id) as Account).forgotten = true;
      alive.clear();
    },
    wire: {
      unref() {},
      send(request) {
        const method =
          request.method === 'POST'
            ? String(JSON.parse(request.body ?? '{}').method ?? 'response')
            : request.method;
        counts.set(method, (counts.get(method) ?? 0) + 1);
        const account = accounts.get(request.headers.get('mcp-session-id') ?? '');
        const isDelete = request.method === 'DELETE' && account !== undefined;
        if (isDelete) {
          account.deletesRunning += 1;
          account.deletesTried += 1;
          if (account.deletesRunning > 1) violations.push('two DELETEs at once for one id');
          if (account.deletesConfirmed > 0) violations.push('a DELETE after a confirmed one');
        }
        return new Promise<WireResponse>((resolve, reject) => {
          const leave = (): void => {
            const at = pending.indexOf(entry);
            if (at >= 0) pending.splice(at, 1);
            request.signal.removeEventListener('abort', onAbort);
            if (isDelete) account.deletesRunning -= 1;
          };
          const onAbort = (): void => {
            leave();
            reject(request.signal.reason as Error);
          };
          const entry: PendingRequest = {
            request,
            method,
            settle(outcome) {
              leave();
              switch (outcome) {
                case 'unreachable':
                  return reject(new WireError(false, new Error('connect ECONNREFUSED')));
                case 'lost-before':
                  return reject(new WireError(true, new Error('socket hang up')));
                case 'error':
                  return resolve(text(500, 'boom'));
                case 'busy':
                  return resolve(text(503, 'later', { 'retry-after': '1' }));
                default:
              }
              const response = answer(request, method);
              if (outcome === 'lost-after') {
                const lost = accounts.get(response.header('mcp-session-id') ?? '');
                if (lost !== undefined) lost.unknowable = true;
                return reject(new WireError(true, new Error('socket hang up')));
              }
              if (isDelete && response.status < 500) account.deletesConfirmed += 1;
              return resolve(response);
            },
          };
          request.signal.addEventListener('abort', onAbort, { once: true });
          pending.push(entry);
        });
      },
    },
  };
  return server;
}

function text(status: number, body: string, headers: Record<string, string> = {}): WireResponse {
  return {
    status,
    header: (name) => headers[name],
    setCookie: [],
    async *chunks() {
      yield new TextEncoder().encode(body);
    },
    discard() {},
  };
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): WireResponse {
  return text(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}
