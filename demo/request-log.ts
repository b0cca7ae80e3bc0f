/**
 * The server's own log: one entry for each HTTP request, in memory.
 * Owns: what is remembered of a request and its response, and looking entries up.
 * Refuses: to print; session ids stay in here, whoever reports counts them.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface LoggedRequest {
  /** Milliseconds since the log was created. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** `Mcp-Session-Id` of the request. */
  readonly sid: string | undefined;
  /** The parsed JSON body. */
  readonly body: unknown;
  /** JSON-RPC methods in the body; `response` for an answer to the server. */
  readonly rpc: readonly string[];
  /** Undefined until the response headers are written. */
  readonly status: number | undefined;
  /** `Mcp-Session-Id` of the response. */
  readonly sidOut: string | undefined;
  /** Milliseconds until the response ended or its socket went; undefined while it is open. */
  readonly durationMs: number | undefined;
  /** True when the response was written to its end. */
  readonly complete: boolean;
}

/** Which entries to take; everything given must match. */
export interface LogFilter {
  method?: string;
  rpc?: string;
  /** Only of this session. */
  sid?: string;
  status?: number;
  /** Not before this time of the log. */
  since?: number;
}

export interface RequestLog {
  readonly entries: readonly LoggedRequest[];
  /** Milliseconds since the log was created. */
  now(): number;
  /** Remembers a request; the entry fills itself as the response goes out. Call it before any header is written. */
  record(req: IncomingMessage, res: ServerResponse, body: unknown): LoggedRequest;
  select(filter: LogFilter): LoggedRequest[];
  count(filter: LogFilter): number;
  /** The ids that were issued, in order. */
  issued(): string[];
}

export function createRequestLog(): RequestLog {
  const entries: LoggedRequest[] = [];
  const start = performance.now();
  const now = (): number => performance.now() - start;
  const select = (f: LogFilter): LoggedRequest[] =>
    entries.filter(
      (e) =>
        (f.method === undefined || e.method === f.method) &&
        (f.rpc === undefined || e.rpc.includes(f.rpc)) &&
        (f.sid === undefined || e.sid === f.sid) &&
        (f.status === undefined || e.status === f.status) &&
        (f.since === undefined || e.at >= f.since),
    );
  return {
    entries,
    now,
    record(req, res, body) {
      const sid = req.headers['mcp-session-id'];
      const entry = {
        at: now(),
        method: req.method ?? '',
        path: req.url ?? '',
        headers: req.headers,
        sid: typeof sid === 'string' ? sid : undefined,
        body,
        rpc: rpcMethods(body),
        status: undefined as number | undefined,
        sidOut: undefined as string | undefined,
        durationMs: undefined as number | undefined,
        complete: false,
      };
      onHead(res, (status, header) => {
        entry.status = status;
        entry.sidOut = header;
      });
      res.once('close', () => {
        entry.durationMs = now() - entry.at;
        entry.complete = res.writableFinished;
      });
      entries.push(entry);
      return entry;
    },
    select,
    count: (filter) => select(filter).length,
    issued: () => [
      ...new Set(
        entries.filter((e) => e.rpc.includes('initialize')).flatMap((e) => (e.sidOut ? [e.sidOut] : [])),
      ),
    ],
  };
}

/** The JSON-RPC methods of a message or a batch. */
function rpcMethods(body: unknown): string[] {
  const messages = Array.isArray(body) ? (body as unknown[]) : [body];
  return messages.flatMap((message) => {
    if (typeof message !== 'object' || message === null) return [];
    if ('method' in message) return [String(message.method)];
    return 'result' in message || 'error' in message ? ['response'] : [];
  });
}

// writeHead() with an object leaves nothing for getHeader() to find, so the call itself is watched.
function onHead(res: ServerResponse, told: (status: number, sid: string | undefined) => void): void {
  const original = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = ((...args: unknown[]) => {
    const given = args.find((arg) => typeof arg === 'object' && arg !== null);
    told(args[0] as number, sessionHeader(given) ?? sessionHeader(res.getHeaders()));
    return original(...args);
  }) as typeof res.writeHead;
}

function sessionHeader(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const pairs = Array.isArray(headers)
    ? pairsOf(headers as unknown[])
    : Object.entries(headers as OutgoingHttpHeaders);
  const found = pairs.find(([name]) => String(name).toLowerCase() === 'mcp-session-id');
  return found === undefined ? undefined : String(found[1]);
}

// writeHead() takes [[name, value], ...] and the flat [name, value, ...] alike.
function pairsOf(list: unknown[]): [unknown, unknown][] {
  if (list.every((item) => Array.isArray(item))) return list as [unknown, unknown][];
  return list.flatMap((item, i) => (i % 2 === 0 ? [[item, list[i + 1]] as [unknown, unknown]] : []));
}
