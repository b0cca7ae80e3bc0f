// The target of every measurement, in a process of its own: the official SDK's server, v1, as its examples build it.
// Prints its URL as a JSON line; ends with its stdin.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const table = new Map();

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => table.set(id, transport),
    onsessionclosed: (id) => table.delete(id),
  });
  const server = new McpServer({ name: 'bench-server', version: '1.0.0' });
  server.registerTool('echo', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
  await server.connect(transport);
  return transport;
}

const http = createServer((req, res) => {
  const id = req.headers['mcp-session-id'];
  const known = table.get(id);
  if (id !== undefined && known === undefined) {
    res.writeHead(404).end();
    return;
  }
  Promise.resolve(known ?? open())
    .then((transport) => transport.handleRequest(req, res))
    .catch((error) => {
      console.error(error);
      res.destroy();
    });
});
http.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` }));
});
process.stdin.resume().once('end', () => process.exit(0));
