import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Client as ClientV2,
  auth as authV2,
  type OAuthClientProvider as ProviderV2,
  type Transport as TransportV2,
} from '@modelcontextprotocol/client';
import {
  type OAuthClientProvider as ProviderV1,
  auth as authV1,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createSessions, createTransport, type FetchLike, type ServerOptions } from 'mooring/client';

// What the compiler accepts here is what a host may write; the assertions are the smaller part.

test("one transport fits both SDKs' types, and their clients fit ours", async () => {
  const transport = createTransport('http://127.0.0.1:1/mcp');
  const v1: TransportV1 = transport;
  const v2: TransportV2 = transport;
  assert.equal(v1, v2);
  const info = { name: 'types', version: '0' };
  const first = createSessions({ servers: {}, createClient: () => new ClientV1(info) });
  const second = createSessions({ servers: {}, createClient: () => new ClientV2(info) });
  // The lease's client is the host's own class, not a narrower one.
  const uses = [
    () => first.use('x', {}, (client) => client.callTool({ name: 'a' })),
    () => second.use('x', {}, (client) => client.callTool({ name: 'a' })),
  ];
  for (const use of uses) await assert.rejects(use(), /no server is called x; configured: none/);
  await Promise.all([first.close(), second.close(), transport.close()]);
});

test('fetch, providers and the auth function of either SDK fit the options', () => {
  const fetches: FetchLike[] = [fetch, (url, init) => fetch(url, init)];
  assert.equal(fetches.length, 2);
  const provider = (): ProviderV1 & ProviderV2 => {
    throw new Error('only its type is wanted');
  };
  const options: Array<() => ServerOptions> = [
    () => ({ url: 'http://127.0.0.1:1/mcp', authProvider: provider() as ProviderV1, auth: authV1 }),
    () => ({ url: 'http://127.0.0.1:1/mcp', authProvider: provider() as ProviderV2, auth: authV2 }),
    () => ({ url: 'http://127.0.0.1:1/mcp', headers: new Headers({ 'x-a': '1' }), fetch }),
  ];
  assert.equal(options.length, 3);
});
