/**
 * The two ways into Mooring, for both majors of the SDK, behind one face: most rules must hold for all four.
 * Owns: opening a host of each kind and closing it after the test.
 */
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { createFetch, createSessions, createTransport } from 'mooring/client';
import type { ServerOptions } from 'mooring/client';
import { bareTransport, callTool, connect, MAJORS, newClient } from './clients.js';
import type { AnyClient, ClientOptions, Major } from './clients.js';

export const WAYS = ['createTransport', 'createSessions', 'createFetch'] as const;
/** What a host that is a process of its own may be: also the SDK alone, with Mooring preloaded. */
export const PROCESS_WAYS = [...WAYS, 'register'] as const;
export type Way = (typeof PROCESS_WAYS)[number];

/** Options of node that bring Mooring into a host of this way. */
export function preload(way: Way): string[] {
  return way === 'register' ? ['--import', import.meta.resolve('mooring/register')] : [];
}

/** Those that are asked for credentials; through a `fetch` they are the library's own affair. */
export const WITH_CREDENTIALS: readonly Way[] = ['createTransport', 'createSessions'];

/** Server options without the URL. */
export type Bounds = Omit<ServerOptions, 'url'>;

/** A host with one session. */
export interface Host {
  call(tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>;
  /** Runs something on the SDK's client. */
  with<T>(fn: (client: AnyClient) => Promise<T>): Promise<T>;
  /** As its author would: `client.close()`, or `sessions.close()`. */
  close(): Promise<void>;
}

export interface CallOptions {
  timeout?: number;
  signal?: AbortSignal;
}

export interface HostOptions {
  bounds?: Bounds;
  client?: ClientOptions;
}

/** Opens a host in this process, and its session; it is closed after the test. */
export async function openHost(
  t: TestContext,
  { way, major }: { way: Way; major: Major },
  url: string,
  { bounds = {}, client: clientOptions = {} }: HostOptions = {},
): Promise<Host> {
  if (way === 'createTransport') {
    const client = newClient(major, clientOptions);
    await connect(client, createTransport(url, bounds));
    t.after(() => client.close());
    return {
      call: (tool, args, options) => callTool(client, tool, args, options),
      with: (fn) => fn(client),
      close: () => client.close(),
    };
  }
  if (way === 'createFetch') {
    const { headers, authProvider, auth: _auth, principal: _principal, ...rest } = bounds;
    const fetch = createFetch(rest);
    const client = newClient(major, clientOptions);
    await connect(client, bareTransport(major, url, { fetch, headers, authProvider }));
    const close = async (): Promise<void> => {
      await client.close();
      await fetch.close();
    };
    t.after(close);
    return {
      call: (tool, args, options) => callTool(client, tool, args, options),
      with: (fn) => fn(client),
      close,
    };
  }
  const sessions = createSessions({
    servers: { main: { url, ...bounds } },
    createClient: () => newClient(major, clientOptions),
  });
  t.after(() => sessions.close());
  await sessions.use('main', {}, () => {});
  return {
    call: (tool, args, options) =>
      sessions.use('main', {}, (client) => callTool(client as AnyClient, tool, args, options)),
    with: (fn) => sessions.use('main', {}, (client) => fn(client as AnyClient)),
    close: () => sessions.close(),
  };
}

/** One test for each major and each way. */
export function everyWay(
  title: string,
  run: (t: TestContext, kind: { way: Way; major: Major }) => Promise<void>,
  { ways = WAYS }: { ways?: readonly Way[] } = {},
): void {
  for (const major of MAJORS) {
    for (const way of ways) {
      it(`${title} (SDK v${major}, ${way})`, (t) => run(t, { way, major }));
    }
  }
}

/** The `MOORING_*` code of an error, wherever the SDK put it. */
function mooringCode(error: unknown): string | undefined {
  for (let at = error; typeof at === 'object' && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code, data } = at as { code?: unknown; data?: { code?: unknown } };
    for (const candidate of [code, data?.code]) {
      if (typeof candidate === 'string' && candidate.startsWith('MOORING_')) return candidate;
    }
  }
  return undefined;
}

/** Resolves with the `MOORING_*` code that a promise is rejected with; undefined for another error. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise;
  } catch (error) {
    const code = mooringCode(error);
    if (code === undefined) throw error;
    return code;
  }
  throw new Error('resolved, but was to be rejected');
}
