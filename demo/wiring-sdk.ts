/**
 * The host as hosts wire the official SDK today: a client and a transport of its own for each agent session and
 * server, kept in a map. What it does wrong is what the reports found in published hosts: a reconnect or a reload
 * puts a new client into the map and drops the old one (augmentcode/auggie#162), and the end of an agent session
 * calls `client.close()`, which sends no DELETE (danny-avila/LibreChat#14248).
 */
import type { Sdk, SdkClient } from './sdk.js';
import type { ServerUrls, Wiring } from './wiring.js';

export function wireSdk(sdk: Sdk, initial: ServerUrls): Wiring {
  let servers = initial;
  const agents = new Map<string, Map<string, SdkClient>>();

  const connect = async (agent: string): Promise<void> => {
    const clients = new Map<string, SdkClient>();
    agents.set(agent, clients);
    for (const [name, url] of Object.entries(servers)) {
      const client = sdk.newClient();
      await sdk.connect(client, url);
      clients.set(name, client);
      await client.listTools();
    }
  };

  return {
    connect,
    async call(agent, server, key) {
      const client = agents.get(agent)?.get(server);
      if (client === undefined) throw new Error(`${agent} is not connected to ${server}`);
      await sdk.work(client, key);
    },
    async end(agent) {
      for (const client of agents.get(agent)?.values() ?? []) await client.close();
      agents.delete(agent);
    },
    async reload(next) {
      servers = next;
      for (const agent of agents.keys()) await connect(agent);
    },
  };
}
