/**
 * One call of `fetch`, as far as it has to be understood: is it MCP, and what does it say.
 * Owns: the many shapes that a URL, headers and a body come in.
 * Refuses: to touch the body of anything that does not look like MCP: that goes on as it was given.
 */
import { EVENT_STREAM, JSON_TYPE, mediaType, PROTOCOL_VERSION, SESSION_ID } from '../../protocol/headers.js';
import { eraOf } from '../../protocol/eras.js';
import { isRequest, type Message, parseMessages, type WithId } from '../../protocol/jsonrpc.js';

/** What `fetch` is called with. */
export type Input = Parameters<typeof globalThis.fetch>[0];
export type Init = Parameters<typeof globalThis.fetch>[1];

export interface Call {
  method: string;
  /** Without its fragment. */
  url: URL;
  headers: Headers;
  signal: AbortSignal | undefined;
  /** The session that the library names. */
  sessionId: string | undefined;
  /** undici's own option: the library wants its connections made this way. */
  dispatcher: unknown;
  /** The body as text; only for what is known to be MCP. */
  text(): Promise<string>;
  /** False: this is no POST that could bring an `initialize`. */
  mayInitialize: boolean;
  /** The `initialize` that this call brings, if it does; anything else is not read, or read from a copy. */
  initialize(): Promise<(WithId & { method: string }) | undefined>;
}

/** undefined for what cannot be MCP. */
export function readCall(input: Input, init: Init): Call | undefined {
  const request = input instanceof Request ? input : undefined;
  const href = input instanceof URL ? input.href : typeof input === 'string' ? input : request?.url;
  if (href === undefined) return undefined;
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  url.hash = '';
  const method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return undefined;
  let headers: Headers;
  try {
    headers = new Headers(init?.headers ?? request?.headers);
  } catch {
    // The real fetch says what is wrong with them.
    return undefined;
  }
  const version = headers.get(PROTOCOL_VERSION);
  if (version !== null && eraOf(version) === 'stateless') return undefined;
  const body = init?.body ?? null;
  const own = body === null && (request?.body ?? null) !== null ? request : undefined;
  const accept = headers.get('accept') ?? '';
  const mayInitialize =
    method === 'POST' &&
    accept.includes(EVENT_STREAM) &&
    accept.includes(JSON_TYPE) &&
    mediaType(headers.get('content-type')) === JSON_TYPE &&
    // A stream can be read but once; nothing that opens a session is sent that way.
    !(body instanceof ReadableStream);
  const text = async (): Promise<string> =>
    own === undefined ? new Response(body as ConstructorParameters<typeof Response>[0]).text() : own.text();
  return {
    method,
    url,
    headers,
    signal: init?.signal ?? request?.signal ?? undefined,
    sessionId: headers.get(SESSION_ID) ?? undefined,
    dispatcher: (init as { dispatcher?: unknown } | undefined)?.dispatcher,
    mayInitialize,
    text,
    async initialize() {
      if (!mayInitialize) return undefined;
      const said = own === undefined ? await text() : await own.clone().text();
      return said.includes('"initialize"') ? initializeOf(said) : undefined;
    },
  };
}

function initializeOf(text: string): (WithId & { method: string }) | undefined {
  const messages: Message[] = parseMessages(text) ?? [];
  const [message] = messages;
  if (message === undefined || messages.length > 1 || !isRequest(message)) return undefined;
  const isMcp = message.method === 'initialize' && typeof message.params?.protocolVersion === 'string';
  return isMcp ? message : undefined;
}

/** Headers that belong to one request, or to the session, and say nothing about who the library is. */
const NOT_OURS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  SESSION_ID,
  PROTOCOL_VERSION,
  'transfer-encoding',
]);

/** The library's own headers: credentials, tracing, its name. */
export function hostHeaders(headers: Headers): Map<string, string> {
  const own = new Map<string, string>();
  headers.forEach((value, name) => {
    if (!NOT_OURS.has(name)) own.set(name, value);
  });
  return own;
}
