// The ways in that are compared: the bare library, and each of Mooring's.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export const WAYS = ['bare', 'createTransport', 'createSessions', 'createFetch', 'register'];

const newClient = () => new Client({ name: 'bench', version: '1.0.0' });

/** Options of node for a process of this way. */
export function nodeArgsOf(way, preload) {
  return way === 'register' ? ['--require', preload] : [];
}

/** Opens sessions one after another: `call(n)` works on the n-th, `close()` ends all. */
export async function openWay(way, url, count) {
  if (way === 'createSessions') {
    const { createSessions } = await import('../../dist/client.js');
    const sessions = createSessions({
      servers: { main: { url, maxSessions: count } },
      createClient: newClient,
    });
    const call = (n) =>
      sessions.use('main', { scope: `s${n}` }, (client) => client.callTool({ name: 'echo' }));
    for (let n = 0; n < count; n++) await sessions.use('main', { scope: `s${n}` }, () => {});
    return { call, close: () => sessions.close() };
  }
  const { createFetch, createTransport } = way.startsWith('create')
    ? await import('../../dist/client.js')
    : {};
  const fetch = way === 'createFetch' ? createFetch({ maxSessions: count }) : undefined;
  const clients = [];
  for (let n = 0; n < count; n++) {
    const client = newClient();
    await client.connect(
      way === 'createTransport'
        ? createTransport(url)
        : new StreamableHTTPClientTransport(new URL(url), { fetch }),
    );
    clients.push(client);
  }
  return {
    call: (n) => clients[n].callTool({ name: 'echo' }),
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await fetch?.close();
    },
  };
}
