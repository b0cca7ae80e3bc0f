// @ai-sdk/mcp: `transport.fetch` is Mooring's.
//   node main.mjs URL [TOOL [JSON]]
import { createMCPClient } from '@ai-sdk/mcp';
import { createFetch } from 'mooring/client';

const [url = process.env.MCP_URL, name = 'echo', args = '{"text":"hello"}'] = process.argv.slice(2);

const client = await createMCPClient({ transport: { type: 'http', url, fetch: createFetch() } });

const { tools } = await client.listTools();
console.log(`tools: ${tools.map((tool) => tool.name).join(', ')}`);

const result = await client.callTool({ name, arguments: JSON.parse(args) });
console.log(`${name}: ${JSON.stringify(result.content)}`);

await client.close();
console.log('closed');
