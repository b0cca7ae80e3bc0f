/**
 * A real server on the official SDK, as its examples build one: node:http and a map of transports.
 * Owns: the map, the log, the counters, and what may be done to it (expire, restart, refuse).
 * Refuses: faults of the wire; those are faulty-server.ts's.
 */
import { listenHttp, readJson, sendJson } from '../../demo/http-server.js';
import { createRequestLog } from '../../demo/request-log.js';
import type { RequestLog } from '../../demo/request-log.js';
import type { SdkSession, SdkSessionOptions } from './sdk/session.js';
import { openV1 } from './sdk/v1.js';
import { openV2, stateless2026 } from './sdk/v2.js';
import { createToolCounters } from './tool-counters.js';
import type { ToolCounters } from './tool-counters.js';

export interface SdkServerOptions {
  /** Which official SDK serves. */
  major: 1 | 2;
  /** `stateless`: no id is issued. `2026-07-28`: that revision and no other; major 2 only. @default 'stateful' */
  era?: 'stateful' | 'stateless' | '2026-07-28';
  /** Answers POSTs with JSON instead of SSE. @default false */
  json?: boolean;
}

export interface SdkServer {
  /** The endpoint. */
  readonly url: string;
  readonly log: RequestLog;
  readonly tools: ToolCounters;
  /** Sessions in the table. */
  readonly sessions: number;
  /** The most that were ever in the table at once. */
  readonly peakSessions: number;
  readonly sockets: number;
  readonly peakSockets: number;
  /** What users answered to elicitations: `[key, answer]`. */
  readonly answers: readonly (readonly [string, string])[];
  /** Forgets every session; the next request of each is refused. Their streams end, unless they are kept. */
  expireAll(streams?: 'end' | 'keep'): void;
  /** Forgets every session, destroys every socket, and listens again on the same port. */
  restart(downMs?: number): Promise<void>;
  /** How an unknown id is refused from now on. @default 404, -32001 `Session not found` */
  refuseWith(status: number, body: unknown): void;
  /** Tells every session's client that the tools changed. */
  toolsChanged(): void;
  stop(): Promise<void>;
}

/** A JSON-RPC error without an id, as servers answer requests that they refuse. */
export function refusal(code: number, message: string): unknown {
  return { jsonrpc: '2.0', error: { code, message }, id: null };
}

export async function startSdkServer(options: SdkServerOptions): Promise<SdkServer> {
  const { major, era = 'stateful', json = false } = options;
  const log = createRequestLog();
  const tools = createToolCounters();
  const table = new Map<string, SdkSession>();
  const answers: [string, string][] = [];
  let peak = 0;
  let refused = { status: 404, body: refusal(-32001, 'Session not found') };
  const modern = era === '2026-07-28' ? stateless2026(tools) : undefined;

  const open = (): Promise<SdkSession> => {
    const sessionOptions: SdkSessionOptions = {
      counters: tools,
      stateful: era === 'stateful',
      json,
      onOpen(sid, session) {
        table.set(sid, session);
        peak = Math.max(peak, table.size);
      },
      onDelete: (sid) => table.delete(sid),
      onAnswer: (key, answer) => answers.push([key, answer]),
    };
    return major === 1 ? openV1(sessionOptions) : openV2(sessionOptions);
  };

  const http = await listenHttp(async (req, res) => {
    const body = await readJson(req);
    const { sid, rpc } = log.record(req, res, body);
    if (modern) return modern.handle(req, res, body);
    if (era === 'stateless') {
      if (req.method !== 'POST') return sendJson(res, 405, refusal(-32000, 'Method not allowed.'));
      const session = await open();
      res.once('close', () => void session.close());
      return session.handle(req, res, body);
    }
    if (sid !== undefined && !rpc.includes('initialize')) {
      const session = table.get(sid);
      if (session === undefined) return sendJson(res, refused.status, refused.body);
      return session.handle(req, res, body);
    }
    if (req.method === 'POST' && rpc.includes('initialize')) return (await open()).handle(req, res, body);
    return sendJson(res, 400, refusal(-32000, 'Bad Request: No valid session ID provided'));
  });

  const forgotten: SdkSession[] = [];
  const forget = (streams: 'end' | 'keep' = 'end'): void => {
    forgotten.push(...table.values());
    table.clear();
    if (streams === 'keep') return;
    for (const session of forgotten.splice(0)) void session.close().catch(() => {});
  };
  return {
    url: `${http.origin}/mcp`,
    log,
    tools,
    answers,
    get sessions() {
      return table.size;
    },
    get peakSessions() {
      return peak;
    },
    get sockets() {
      return http.sockets;
    },
    get peakSockets() {
      return http.peakSockets;
    },
    expireAll: forget,
    restart(downMs) {
      forget();
      return http.restart(downMs);
    },
    refuseWith(status, body) {
      refused = { status, body };
    },
    toolsChanged() {
      for (const session of table.values()) session.toolsChanged();
    },
    async stop() {
      forget();
      await modern?.close();
      await http.stop();
    },
  };
}
