/**
 * Clients of both majors of the official SDK behind one face, and the transports to give them.
 * Owns: what differs between the majors (imports, request schemas).
 */
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';

/** The majors that every behaviour is tried with. */
export const MAJORS = [1, 2] as const;
export type Major = (typeof MAJORS)[number];

export type AnyClient = ClientV1 | ClientV2;

export interface ClientOptions {
  name?: string;
  /** Declares elicitation and answers with this. */
  onElicit?: (message: string) => Promise<string>;
  /** Major 2 only: speak this revision and no other. */
  pin?: string;
}

/** A client that is not connected. */
export function newClient(major: Major, options: ClientOptions = {}): AnyClient {
  const { name = 'test-host', onElicit, pin } = options;
  const info = { name, version: '1.0.0' };
  const capabilities = onElicit ? { elicitation: {} } : {};
  const answer = async (message: string) => ({
    action: 'accept' as const,
    content: { answer: await (onElicit as (m: string) => Promise<string>)(message) },
  });
  if (major === 1) {
    const client = new ClientV1(info, { capabilities });
    if (onElicit) client.setRequestHandler(ElicitRequestSchema, (request) => answer(request.params.message));
    return client;
  }
  const client = new ClientV2(info, {
    capabilities,
    ...(pin ? { versionNegotiation: { mode: { pin } } } : {}),
  });
  if (onElicit) client.setRequestHandler('elicitation/create', (request) => answer(request.params.message));
  return client;
}

/** Connects over whatever the major's client takes as a transport. */
export async function connect(client: AnyClient, transport: unknown): Promise<void> {
  await (client as ClientV1).connect(transport as Parameters<ClientV1['connect']>[0]);
}

/** The SDK's own transport, as a host uses it without Mooring. */
export function bareTransport(
  major: Major,
  url: string,
  { fetch, headers, authProvider }: BareOptions = {},
): HttpV1 | HttpV2 {
  const at = new URL(url);
  const options = {
    ...(fetch === undefined ? {} : { fetch }),
    ...(authProvider === undefined ? {} : { authProvider: authProvider as never }),
    ...(headers === undefined || typeof headers === 'function'
      ? {}
      : { requestInit: { headers: headers as Record<string, string> } }),
  };
  return major === 1 ? new HttpV1(at, options) : new HttpV2(at, options);
}

/** What the SDK's own transport may be given. */
interface BareOptions {
  fetch?: typeof globalThis.fetch;
  headers?: unknown;
  authProvider?: unknown;
}

/** Calls a tool and returns the text of its result. */
export async function callTool(
  client: AnyClient,
  name: string,
  args: Record<string, unknown> = {},
  options?: { timeout?: number; signal?: AbortSignal },
): Promise<string> {
  const result =
    client instanceof ClientV1
      ? await client.callTool({ name, arguments: args }, undefined, options)
      : await client.callTool({ name, arguments: args }, options);
  const [first] = result.content as { type: string; text?: string }[];
  if (result.isError) throw new Error(`tool ${name}: ${first?.text ?? ''}`);
  return first?.text ?? '';
}
