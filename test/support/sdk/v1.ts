/** A session on @modelcontextprotocol/sdk, major 1. */
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { TEST_TOOLS } from '../tools.js';
import { ELICIT_SCHEMA } from './session.js';
import type { SdkSession, SdkSessionOptions } from './session.js';

export async function openV1(options: SdkSessionOptions): Promise<SdkSession> {
  const transport = new StreamableHTTPServerTransport({
    ...(options.stateful ? { sessionIdGenerator: randomUUID } : {}),
    enableJsonResponse: options.json,
    onsessioninitialized: (sid) => options.onOpen(sid, session),
    onsessionclosed: (sid) => options.onDelete(sid),
  });
  const server = new McpServer({ name: 'test-server', version: '1.0.0' }, { capabilities: { logging: {} } });
  for (const tool of TEST_TOOLS) {
    server.registerTool(
      tool.name,
      {
        description: tool.description,
        inputSchema: tool.input,
        annotations: { readOnlyHint: tool.readOnly },
      },
      async (args: Record<string, unknown>, extra) => {
        const text = await tool.run(args, {
          counters: options.counters,
          async elicit(via, message) {
            const params = { message, requestedSchema: { ...ELICIT_SCHEMA, required: ['answer'] } };
            const result =
              via === 'stream'
                ? await server.server.elicitInput(params)
                : await extra.sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema);
            const answer = String(result.content?.answer ?? result.action);
            options.onAnswer(message, answer);
            return answer;
          },
        });
        return { content: [{ type: 'text' as const, text }] };
      },
    );
  }
  const session: SdkSession = {
    handle: (req, res, body) => transport.handleRequest(req, res, body),
    toolsChanged: () => server.sendToolListChanged(),
    endStream: () => transport.closeStandaloneSSEStream(),
    close: () => server.close(),
  };
  // exactOptionalPropertyTypes: the SDK's own class does not match its own interface.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  return session;
}
