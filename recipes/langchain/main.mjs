// @langchain/mcp-adapters takes no `fetch`, so the program stays as it is and Mooring is put in front of it:
//   npx mooring run -- node main.mjs URL [TOOL [JSON]]
import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const [url = process.env.MCP_URL, name = 'echo', args = '{"text":"hello"}'] = process.argv.slice(2);

const client = new MultiServerMCPClient({ lab: { transport: 'http', url } });

const tools = await client.getTools();
console.log(`tools: ${tools.map((tool) => tool.name).join(', ')}`);

const result = await tools.find((tool) => tool.name === name).invoke(JSON.parse(args));
console.log(`${name}: ${JSON.stringify(result)}`);

await client.close();
console.log('closed');
