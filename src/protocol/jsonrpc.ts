/**
 * The JSON-RPC envelope as MCP uses it: what a message is, which ids it carries, whether it is work.
 * Owns: classification and building of envelopes; pure.
 * Refuses: to look inside params and results beyond what a lifecycle decision needs.
 */

/** A request id; JSON keeps 1 and "1" apart, and so do we. */
export type RequestId = string | number;

/** Any JSON-RPC message, loosely: fields are checked where they are used. */
export interface Message {
  jsonrpc: '2.0';
  id?: RequestId | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

export type MessageKind = 'request' | 'notification' | 'response' | 'invalid';

/** JSON-RPC 2.0, sections 4 and 5. */
export function kindOf(message: unknown): MessageKind {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'invalid';
  const { id, method } = message as Message;
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    if (hasId) return 'request';
    return id === undefined ? 'notification' : 'invalid';
  }
  if ('result' in message || 'error' in message) return hasId || id === null ? 'response' : 'invalid';
  return 'invalid';
}

/** A request or a response that carries an id. */
export type WithId = Message & { id: RequestId };

export function isRequest(message: Message): message is WithId & { method: string } {
  return kindOf(message) === 'request';
}

export function isResponse(message: Message): message is WithId {
  return kindOf(message) === 'response' && message.id !== null;
}

/**
 * Work is a request that is not `ping` (and is answered below 400, which only the answer tells).
 * `initialize` belongs to the handshake, not to the work of a session.
 */
export function isWorkMethod(method: string): boolean {
  return method !== 'ping' && method !== 'initialize';
}

/**
 * Requests that only read, by their definition in MCP: asking again changes nothing.
 * `tools/call` is not among them; a tool's own annotations decide.
 */
const READ_METHODS = new Set([
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/get',
  'tasks/list',
]);

export function isReadMethod(method: string): boolean {
  return READ_METHODS.has(method);
}

/** Parses one body or one event; undefined when it is no JSON or no JSON-RPC message (or batch of them). */
export function parseMessages(text: string): Message[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.some((item) => kindOf(item) === 'invalid')) return undefined;
  return list as Message[];
}

/** An error response; `id` null when it answers nothing in particular. */
export function errorResponse(id: RequestId | null, code: number, message: string, data?: unknown): Message {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** `_meta` field that names the revision of a single request from 2026-07-28 on. */
const VERSION_META = 'io.modelcontextprotocol/protocolVersion';

/** The revision that a request names for itself, if it does. */
export function envelopeVersion(message: Message): string | undefined {
  const meta = message.params?._meta;
  if (typeof meta !== 'object' || meta === null) return undefined;
  const version = (meta as Record<string, unknown>)[VERSION_META];
  return typeof version === 'string' ? version : undefined;
}
