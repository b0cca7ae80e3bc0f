/**
 * The official SDK of either major, as far as the host of the demo uses it.
 */
import type { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type { Client as ClientV2 } from '@modelcontextprotocol/client';
import { CALL_TIMEOUT_MS } from './wiring.js';
import type { Major } from './wiring.js';

const INFO = { name: 'demo-host', version: '1.0.0' };

export type SdkClient = ClientV1 | ClientV2;

export interface Sdk {
  newClient(): SdkClient;
  /** Connects over the SDK's own Streamable HTTP transport. */
  connect(client: SdkClient, url: string): Promise<void>;
  /** Calls the tool `work`, and throws when it did not work. */
  work(client: SdkClient, key: string): Promise<void>;
}

export async function loadSdk(major: Major): Promise<Sdk> {
  return major === 1 ? loadV1() : loadV2();
}

async function loadV1(): Promise<Sdk> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import(
    '@modelcontextprotocol/sdk/client/streamableHttp.js'
  );
  return {
    newClient: () => new Client(INFO),
    async connect(client, url) {
      const transport = new StreamableHTTPClientTransport(new URL(url));
      // The cast is for exactOptionalPropertyTypes: the SDK's class does not match its own interface there.
      await (client as ClientV1).connect(transport as Parameters<ClientV1['connect']>[0]);
    },
    async work(client, key) {
      const params = { name: 'work', arguments: { key } };
      throwIfFailed(
        await (client as ClientV1).callTool(params, undefined, { timeout: CALL_TIMEOUT_MS }),
        key,
      );
    },
  };
}

async function loadV2(): Promise<Sdk> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  return {
    newClient: () => new Client(INFO),
    connect: (client, url) => (client as ClientV2).connect(new StreamableHTTPClientTransport(new URL(url))),
    async work(client, key) {
      const params = { name: 'work', arguments: { key } };
      throwIfFailed(await (client as ClientV2).callTool(params, { timeout: CALL_TIMEOUT_MS }), key);
    },
  };
}

function throwIfFailed(result: object, key: string): void {
  if ('isError' in result && result.isError) throw new Error(`the tool failed for ${key}`);
}
