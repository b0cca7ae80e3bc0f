// @openai/agents: the server's `fetch` is Mooring's.
//   node main.mjs URL [TOOL [JSON]]
import { MCPServerStreamableHttp } from '@openai/agents';
import { createFetch } from 'mooring/client';

const [url = process.env.MCP_URL, name = 'echo', args = '{"text":"hello"}'] = process.argv.slice(2);

const server = new MCPServerStreamableHttp({ name: 'lab', url, fetch: createFetch() });
await server.connect();

// An agent gets it as `new Agent({ mcpServers: [server] })`; here its tools are called without a model.
const tools = await server.listTools();
console.log(`tools: ${tools.map((tool) => tool.name).join(', ')}`);

const content = await server.callTool(name, JSON.parse(args));
console.log(`${name}: ${JSON.stringify(content)}`);

await server.close();
console.log('closed');
