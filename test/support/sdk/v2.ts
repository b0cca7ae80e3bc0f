/** A session on @modelcontextprotocol/server, major 2; and its handler for the revision without sessions. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import type { ToolCounters } from '../tool-counters.js';
import { TEST_TOOLS } from '../tools.js';
import { ELICIT_SCHEMA } from './session.js';
import type { SdkSession, SdkSessionOptions } from './session.js';

export async function openV2(options: SdkSessionOptions): Promise<SdkSession> {
  const transport = new NodeStreamableHTTPServerTransport({
    ...(options.stateful ? { sessionIdGenerator: randomUUID } : {}),
    enableJsonResponse: options.json,
    onsessioninitialized: (sid) => options.onOpen(sid, session),
    onsessionclosed: (sid) => options.onDelete(sid),
  });
  const server = buildServer(options.counters, options.onAnswer);
  const session: SdkSession = {
    handle: (req, res, body) => transport.handleRequest(req, res, body),
    toolsChanged: () => server.sendToolListChanged(),
    endStream: () => transport.closeStandaloneSSEStream(),
    close: () => server.close(),
  };
  await server.connect(transport);
  return session;
}

/** A node:http handler that speaks 2026-07-28 only: no initialize, no id, no GET, no DELETE. */
export function stateless2026(counters: ToolCounters): {
  handle: (req: IncomingMessage, res: ServerResponse, body: unknown) => Promise<void>;
  close: () => Promise<void>;
} {
  const handler = createMcpHandler(() => buildServer(counters, () => {}), { legacy: 'reject' });
  const node = toNodeHandler(handler);
  return {
    handle: (req, res, body) => node(req as Parameters<typeof node>[0], res, body),
    close: () => handler.close(),
  };
}

function buildServer(counters: ToolCounters, onAnswer: SdkSessionOptions['onAnswer']): McpServer {
  const server = new McpServer({ name: 'test-server', version: '2.0.0' }, { capabilities: { logging: {} } });
  for (const tool of TEST_TOOLS) {
    server.registerTool(
      tool.name,
      {
        description: tool.description,
        inputSchema: tool.input,
        annotations: { readOnlyHint: tool.readOnly },
      },
      async (args, ctx) => {
        const text = await tool.run(args as Record<string, unknown>, {
          counters,
          async elicit(via, message) {
            const params = {
              message,
              requestedSchema: { ...ELICIT_SCHEMA, required: ['answer'] },
            };
            const result =
              via === 'stream'
                ? await server.server.elicitInput(params)
                : await ctx.mcpReq.elicitInput(params);
            const answer = String(result.content?.answer ?? result.action);
            onAnswer(message, answer);
            return answer;
          },
        });
        return { content: [{ type: 'text' as const, text }] };
      },
    );
  }
  return server;
}
