/**
 * The server of the demo: stateful, on the official SDK, with a map of transports, as its examples build one.
 * Several endpoints share one process, one log and one table of sessions.
 * Owns: the table with each session's life, what ran at the tool, the log.
 */
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as z from 'zod';
import { listenHttp, readJson, sendJson } from './http-server.js';
import { createRequestLog } from './request-log.js';
import type { RequestLog } from './request-log.js';

/** One session's life on the server; times are the log's. */
export interface SessionLife {
  readonly sid: string;
  readonly openedAt: number;
  endedAt?: number;
  endedBy?: 'delete' | 'server';
}

export interface DemoServer {
  readonly origin: string;
  readonly log: RequestLog;
  readonly lives: readonly SessionLife[];
  /** Sessions in the table. */
  readonly live: number;
  readonly peakSockets: number;
  /** How often the tool ran for a key. */
  runs(key: string): number;
  /** Forgets the session that served the call with this key. */
  expire(key: string): void;
  stop(): Promise<void>;
}

export async function startDemoServer(): Promise<DemoServer> {
  const log = createRequestLog();
  const table = new Map<string, StreamableHTTPServerTransport>();
  const lives = new Map<string, SessionLife>();
  const runs = new Map<string, number>();
  const servedBy = new Map<string, string>();

  const end = (sid: string, endedBy: 'delete' | 'server'): void => {
    table.delete(sid);
    const life = lives.get(sid);
    if (life !== undefined && life.endedAt === undefined)
      Object.assign(life, { endedAt: log.now(), endedBy });
  };

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(sid) {
        table.set(sid, transport);
        lives.set(sid, { sid, openedAt: log.now() });
      },
      onsessionclosed: (sid) => end(sid, 'delete'),
    });
    const server = new McpServer({ name: 'demo-server', version: '1.0.0' });
    const inputSchema = { key: z.string() };
    server.registerTool('work', { description: 'Does a piece of work.', inputSchema }, ({ key }, extra) => {
      runs.set(key, (runs.get(key) ?? 0) + 1);
      if (extra.sessionId !== undefined) servedBy.set(key, extra.sessionId);
      return { content: [{ type: 'text', text: `done ${key}` }] };
    });
    // The cast is for exactOptionalPropertyTypes: the SDK's class does not match its own interface there.
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    return transport;
  };

  const http = await listenHttp(async (req, res) => {
    const body = await readJson(req);
    const { sid, rpc } = log.record(req, res, body);
    if (sid !== undefined) {
      const transport = table.get(sid);
      if (transport !== undefined) return transport.handleRequest(req, res, body);
      const error = { code: -32001, message: 'Session not found' };
      return sendJson(res, 404, { jsonrpc: '2.0', error, id: null });
    }
    if (rpc.includes('initialize')) return (await open()).handleRequest(req, res, body);
    const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
    return sendJson(res, 400, { jsonrpc: '2.0', error, id: null });
  });

  return {
    origin: http.origin,
    log,
    get lives() {
      return [...lives.values()];
    },
    get live() {
      return table.size;
    },
    get peakSockets() {
      return http.peakSockets;
    },
    runs: (key) => runs.get(key) ?? 0,
    expire(key) {
      const sid = servedBy.get(key);
      const transport = sid === undefined ? undefined : table.get(sid);
      if (sid === undefined || transport === undefined) throw new Error(`no session served ${key}`);
      end(sid, 'server');
      void transport.close();
    },
    stop: () => http.stop(),
  };
}
