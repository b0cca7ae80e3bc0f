// mcp-use: `fetch` of a server is Mooring's.
//   node main.mjs URL [TOOL [JSON]]
import { MCPClient } from 'mcp-use/client';
import { createFetch } from 'mooring/client';

const [url = process.env.MCP_URL, name = 'echo', args = '{"text":"hello"}'] = process.argv.slice(2);

const client = new MCPClient({ mcpServers: { lab: { url, fetch: createFetch() } } });
const session = await client.createSession('lab');

const tools = await session.listTools();
console.log(`tools: ${tools.map((tool) => tool.name).join(', ')}`);

const result = await session.callTool(name, JSON.parse(args));
console.log(`${name}: ${JSON.stringify(result.content)}`);

await client.closeAllSessions();
console.log('closed');
