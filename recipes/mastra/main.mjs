// @mastra/mcp: `fetch` of a server is Mooring's; one for all of them will do.
//   node main.mjs URL [TOOL [JSON]]
import { MCPClient } from '@mastra/mcp';
import { createFetch } from 'mooring/client';

const [url = process.env.MCP_URL, name = 'echo', args = '{"text":"hello"}'] = process.argv.slice(2);

const client = new MCPClient({ servers: { lab: { url: new URL(url), fetch: createFetch() } } });

// An agent gets these as `new Agent({ tools })`; here one is called without a model.
const tools = await client.listTools();
console.log(`tools: ${Object.keys(tools).join(', ')}`);

const result = await tools[`lab_${name}`].execute(JSON.parse(args));
console.log(`${name}: ${JSON.stringify(result.content)}`);

await client.disconnect();
console.log('closed');
