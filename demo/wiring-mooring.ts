/**
 * The same host with Mooring: an agent session is a scope, and nothing else has to be kept.
 */
import { createSessions } from 'mooring/client';
import { breakingFetch } from './breaks.js';
import type { Break } from './breaks.js';
import type { Sdk } from './sdk.js';
import type { ServerUrls, Wiring } from './wiring.js';

export function wireMooring(sdk: Sdk, initial: ServerUrls, broken: Break | undefined): Wiring {
  const sabotage = broken ? { fetch: breakingFetch(broken) } : {};
  const configured = (servers: ServerUrls) =>
    Object.fromEntries(Object.entries(servers).map(([name, url]) => [name, { url, ...sabotage }]));

  let names = Object.keys(initial);
  const sessions = createSessions({ servers: configured(initial), createClient: () => sdk.newClient() });

  return {
    async connect(agent) {
      for (const name of names)
        await sessions.use(name, { scope: agent }, async (client) => void (await client.listTools()));
    },
    async call(agent, server, key) {
      await sessions.use(server, { scope: agent }, (client) => sdk.work(client, key));
    },
    end: (agent) => sessions.endScope(agent),
    async reload(servers) {
      names = Object.keys(servers);
      await sessions.reload(configured(servers));
    },
  };
}
