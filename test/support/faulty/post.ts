/**
 * POST of the faulty server: JSON-RPC by hand, one message a request.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import * as z from 'zod';
import { sendJson } from '../../../demo/http-server.js';
import type { ToolCounters } from '../tool-counters.js';
import { TEST_TOOLS } from '../tools.js';
import { pause } from '../until.js';
import type { Faults } from './faults.js';
import { beginSse, writeSse } from './sse-writer.js';
import type { SseEvent } from './sse-writer.js';
import type { FaultySession } from './table.js';

export interface RpcMessage {
  jsonrpc: '2.0';
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

export interface PostContext {
  res: ServerResponse;
  /** Undefined on a server without sessions. */
  session: FaultySession | undefined;
  faults: Faults;
  counters: ToolCounters;
  /** An answer that no request of this session waits for. */
  onStray: (sid: string | undefined, answer: RpcMessage) => void;
}

/** Requests that are answered with nothing. */
const PLAIN = new Set(['ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

export async function answerPost(message: RpcMessage, context: PostContext): Promise<void> {
  const { res, session, faults, onStray } = context;
  if (message.method === undefined) {
    const waiting = session?.pending.get(message.id);
    session?.pending.delete(message.id);
    if (waiting === undefined) onStray(session?.sid, message);
    waiting?.(message.result ?? message.error);
    res.writeHead(202).end();
    return;
  }
  if (message.id === undefined) {
    res.writeHead(202).end();
    return;
  }
  if (message.method === 'tools/call') return answerCall(message, context);
  if (message.method === 'tools/list') return reply(res, faults, { id: message.id, result: toolList() });
  if (PLAIN.has(message.method)) return reply(res, faults, { id: message.id, result: {} });
  const error = { code: -32601, message: `Method not found: ${message.method}` };
  return reply(res, faults, { id: message.id, error });
}

/** Answers initialize; the id goes out with it. */
export function initializeResult(message: RpcMessage): unknown {
  return {
    protocolVersion: message.params?.protocolVersion ?? '2025-06-18',
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
    serverInfo: { name: 'faulty-server', version: '1.0.0' },
  };
}

/** Writes one JSON-RPC answer as the server was told to: JSON or SSE. */
export async function reply(
  res: ServerResponse,
  faults: Faults,
  answer: object,
  headers: Record<string, string> = {},
): Promise<void> {
  const message = { jsonrpc: '2.0', ...answer };
  if (faults.answer === 'sse') {
    beginSse(res, headers);
    await writeSse(res, { message }, faults.sse);
    res.end();
  } else if (faults.jsonType === undefined) {
    res.writeHead(200, headers).end(JSON.stringify(message));
  } else sendJson(res, 200, message, { ...headers, 'content-type': faults.jsonType });
}

async function answerCall(message: RpcMessage, context: PostContext): Promise<void> {
  const { res, session, faults } = context;
  const fault = faults.calls.shift();
  if (fault?.kind === 'status') {
    await pause(fault.delayMs ?? 0);
    return sendJson(res, fault.status, fault.body ?? {}, fault.headers ?? {});
  }
  if (fault?.kind === 'event') {
    beginSse(res);
    res.end(`data: ${fault.data}\n\n`);
    return;
  }
  const asked = message.params?.name === 'elicit';
  if (fault?.kind === 'destroy') {
    await runTool(message, context);
    res.destroy();
    return;
  }
  if (fault?.kind === 'cut') {
    beginSse(res);
    const id = randomUUID();
    const answered = runTool(message, context).then((answer): SseEvent[] => [
      { id: `${id}-end`, message: { jsonrpc: '2.0', ...answer } },
    ]);
    if (fault.ids) session?.resumable.set(id, answered);
    await writeSse(res, fault.ids ? { id } : {}, faults.sse);
    await answered;
    res.destroy();
    return;
  }
  // An elicitation travels on the call's own stream, which has to be open before the tool runs.
  if (!asked) return reply(res, faults, await runTool(message, context));
  beginSse(res);
  const answer = await runTool(message, context);
  await writeSse(res, { message: { jsonrpc: '2.0', ...answer } }, faults.sse);
  res.end();
}

async function runTool(message: RpcMessage, context: PostContext): Promise<object> {
  const { res, session, faults, counters } = context;
  const tool = TEST_TOOLS.find(({ name }) => name === message.params?.name);
  if (tool === undefined) return { id: message.id, error: { code: -32602, message: 'no such tool' } };
  const text = await tool.run(tool.input.parse(message.params?.arguments ?? {}), {
    counters,
    elicit(via, question) {
      const id = `elicit-${(session?.pending.size ?? 0) + 1}`;
      const params = { message: question, requestedSchema: { type: 'object', properties: {} } };
      const request = { jsonrpc: '2.0', id, method: 'elicitation/create', params };
      const [stream = res] = via === 'stream' ? (session?.streams ?? []) : [res];
      void writeSse(stream, { message: request }, faults.sse);
      return new Promise((resolve) => session?.pending.set(id, (answer) => resolve(JSON.stringify(answer))));
    },
  });
  return { id: message.id, result: { content: [{ type: 'text', text }] } };
}

function toolList(): unknown {
  return {
    tools: TEST_TOOLS.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: z.toJSONSchema(tool.input),
      annotations: { readOnlyHint: tool.readOnly },
    })),
  };
}
