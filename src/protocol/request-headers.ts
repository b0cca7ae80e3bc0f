/**
 * Headers that 2026-07-28 derives from a request's body: MCP-Protocol-Version, Mcp-Method, Mcp-Name.
 * Requests of the stateful era get none of them. Source: MCP 2026-07-28, "Standard Request Headers".
 */
import { PROTOCOL_VERSION } from './headers.js';
import { envelopeVersion, isRequest, type Message } from './jsonrpc.js';

/** Which parameter names the thing that a request is about. */
const NAME_PARAMETER: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Empty for a message that names no revision of its own. */
export function bodyDerivedHeaders(message: Message): Map<string, string> {
  const headers = new Map<string, string>();
  if (!isRequest(message)) return headers;
  const version = envelopeVersion(message);
  if (version === undefined) return headers;
  headers.set(PROTOCOL_VERSION, version);
  headers.set('mcp-method', message.method);
  const parameter = Object.hasOwn(NAME_PARAMETER, message.method)
    ? NAME_PARAMETER[message.method]
    : undefined;
  const name = parameter === undefined ? undefined : message.params?.[parameter];
  if (typeof name === 'string') headers.set('mcp-name', encodeHeaderValue(name));
  return headers;
}

const PREFIX = '=?base64?';
const SUFFIX = '?=';

/** A value that a header can carry as it is, or its base64 form between the markers of the revision. */
export function encodeHeaderValue(value: string): string {
  const plain =
    value !== '' &&
    value === value.trim() &&
    /^[\t\x20-\x7e]*$/.test(value) &&
    !(value.startsWith(PREFIX) && value.endsWith(SUFFIX));
  return plain ? value : `${PREFIX}${Buffer.from(value, 'utf8').toString('base64')}${SUFFIX}`;
}
