/**
 * A small Streamable HTTP server by hand, without any SDK, that goes wrong in the ways that are reported.
 * Owns: the order of things (redirect, token, worker, initialize, session, cookie, method), log and counters.
 * Refuses: to go wrong unasked; see faulty/faults.ts for what can be asked.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenHttp, readJson, sendJson } from '../../demo/http-server.js';
import { createRequestLog } from '../../demo/request-log.js';
import type { RequestLog } from '../../demo/request-log.js';
import { noFaults } from './faulty/faults.js';
import type { Faults } from './faulty/faults.js';
import { answerPlainly, cookieMissing, ENDPOINT, redirected, unauthorized } from './faulty/gates.js';
import { answerGet } from './faulty/get.js';
import { answerPost, initializeResult, reply } from './faulty/post.js';
import type { RpcMessage } from './faulty/post.js';
import { writeSse } from './faulty/sse-writer.js';
import { createTable } from './faulty/table.js';
import { createWorkerPool } from './faulty/workers.js';
import { createToolCounters } from './tool-counters.js';
import type { ToolCounters } from './tool-counters.js';
import { pause } from './until.js';

export interface FaultyServer {
  readonly url: string;
  readonly origin: string;
  /** Change it at any time. */
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly tools: ToolCounters;
  readonly sessions: number;
  readonly peakSessions: number;
  readonly sockets: number;
  readonly peakSockets: number;
  /** Workers that serve something, when `faults.workers` bounds them. */
  readonly busyWorkers: number;
  /** Answers that came for nothing that the session had asked. */
  readonly strays: readonly { sid: string | undefined; answer: RpcMessage }[];
  /** Sends a notification on the open listening streams, or on those of one session; with an event id if given. */
  notify(method: string, to?: { sid?: string; id?: string }): Promise<void>;
  /** Ends the listening streams; the sessions stay. */
  endStreams(): void;
  expireAll(): void;
  restart(downMs?: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultyServer(asked: Partial<Faults> = {}): Promise<FaultyServer> {
  const faults: Faults = { ...noFaults(), ...asked };
  const log = createRequestLog();
  const counters = createToolCounters();
  const table = createTable();
  const workers = createWorkerPool();
  const strays: { sid: string | undefined; answer: RpcMessage }[] = [];
  let requests = 0;

  const initialize = async (message: RpcMessage, res: ServerResponse, backend: number): Promise<void> => {
    const plain = faults.initializes.shift();
    if (plain !== undefined) return answerPlainly(res, plain);
    await pause(faults.initializeDelayMs);
    const headers: Record<string, string> = {};
    if (!faults.stateless) {
      const session = table.open(message.params?.clientInfo, backend, faults.capacity);
      headers[faults.sessionHeader] = session.sid;
      if (faults.cookie) headers['set-cookie'] = `${session.cookie}; Path=/; HttpOnly`;
    }
    return reply(res, faults, { id: message.id, result: initializeResult(message) }, headers);
  };

  const endSession = (res: ServerResponse, sid: string): void => {
    const answer = faults.deletes.shift() ?? { status: 200 };
    if (answer === 'hang') return;
    if (answer.status < 300) table.end(sid);
    answerPlainly(res, answer);
  };

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const body = await readJson(req);
    const { sid } = log.record(req, res, body);
    if (redirected(req, res, faults) || unauthorized(req, res, faults)) return;
    requests += 1;
    const backend = faults.affinity ? 0 : requests % 2;
    if (faults.workers !== Number.POSITIVE_INFINITY && !(await workers.take(res, faults.workers))) return;
    const message = (body ?? {}) as RpcMessage;
    if (req.method === 'POST' && message.method === 'initialize') return initialize(message, res, backend);
    const post = {
      res,
      faults,
      counters,
      onStray: (from: string | undefined, answer: RpcMessage) => strays.push({ sid: from, answer }),
    };
    if (faults.stateless) {
      if (req.method === 'POST') return answerPost(message, { ...post, session: undefined });
      return answerPlainly(res, { status: 405 });
    }
    if (sid === undefined) return answerPlainly(res, { status: 400 });
    const session = table.get(sid, backend);
    if (session === undefined) return sendJson(res, faults.refuse.status, faults.refuse.body);
    if (cookieMissing(req, res, faults, session.cookie)) return;
    if (req.method === 'POST') return answerPost(message, { ...post, session });
    if (req.method === 'GET') return answerGet(req, res, session, faults);
    if (req.method === 'DELETE') return endSession(res, sid);
    return answerPlainly(res, { status: 405 });
  };

  const http = await listenHttp(serve);
  return {
    url: `${http.origin}${ENDPOINT}`,
    origin: http.origin,
    faults,
    log,
    tools: counters,
    strays,
    get sessions() {
      return table.size;
    },
    get peakSessions() {
      return table.peak;
    },
    get sockets() {
      return http.sockets;
    },
    get peakSockets() {
      return http.peakSockets;
    },
    get busyWorkers() {
      return workers.busy;
    },
    async notify(method, { sid, id } = {}) {
      const told = table.all().filter((session) => sid === undefined || session.sid === sid);
      const event = { message: { jsonrpc: '2.0', method }, ...(id === undefined ? {} : { id }) };
      const streams = told.flatMap((session) => [...session.streams]);
      await Promise.all(streams.map((res) => writeSse(res, event, faults.sse)));
    },
    endStreams() {
      for (const { streams } of table.all()) for (const res of streams) res.end();
    },
    expireAll: () => table.forget(),
    restart(downMs) {
      table.forget();
      return http.restart(downMs);
    },
    stop: () => http.stop(),
  };
}
