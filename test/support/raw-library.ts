/**
 * The least that a library does with a `fetch` to speak MCP, a function for each step.
 * Refuses: to recover, to end, to know Mooring.
 */
type Fetch = typeof globalThis.fetch;
type Json = Record<string, unknown>;

const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw-library', version: '1.0.0' },
};

export interface RawSession {
  readonly id: string | undefined;
  post(body: unknown, init?: RequestInit): Promise<Response>;
  /** Calls a tool and returns the JSON-RPC response. */
  call(tool: string, args: Json, id?: number | string): Promise<Json>;
  get(signal?: AbortSignal): Promise<Response>;
  remove(): Promise<Response>;
}

export function initializeBody(id: number | string = 0): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params: INITIALIZE });
}

/** The POST of `initialize` alone. */
export function postInitialize(fetch: Fetch, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { method: 'POST', headers: HEADERS, body: initializeBody(), ...init });
}

/** Opens a session as libraries do: `initialize`, then `initialized`. */
export async function openRaw(fetch: Fetch, url: string, more: Json = {}): Promise<RawSession> {
  const answered = await postInitialize(fetch, url, {
    headers: { ...HEADERS, ...(more as Record<string, string>) },
  });
  await readAnswer(answered, 0);
  const id = answered.headers.get('mcp-session-id') ?? undefined;
  const headers = {
    ...HEADERS,
    ...(more as Record<string, string>),
    'mcp-protocol-version': '2025-11-25',
    ...(id === undefined ? {} : { 'mcp-session-id': id }),
  };
  const post = (body: unknown, init: RequestInit = {}): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...init });
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  let counter = 0;
  return {
    id,
    post,
    async call(name, args, callId = ++counter) {
      const params = { name, arguments: args };
      return readAnswer(await post({ jsonrpc: '2.0', id: callId, method: 'tools/call', params }), callId);
    },
    get: (signal) =>
      fetch(url, {
        headers: { ...headers, accept: 'text/event-stream' },
        ...(signal === undefined ? {} : { signal }),
      }),
    remove: () => fetch(url, { method: 'DELETE', headers }),
  };
}

/** The response with this id, from JSON or from an event stream. */
export async function readAnswer(response: Response, id: number | string): Promise<Json> {
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const messages = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Json)
    : ([JSON.parse(text)] as Json[]).flat();
  const found = messages.find((message) => message.id === id && !('method' in message));
  if (found === undefined) throw new Error(`HTTP ${response.status} without an answer to ${id}: ${text}`);
  return found;
}
