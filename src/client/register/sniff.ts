/**
 * Whether a call of `fetch` may open an MCP session: cheap, without imports, before anything else is loaded.
 * Refuses: to read a body that is not text already, but for a `Request`'s, whose copy is read later.
 */
type Input = Parameters<typeof globalThis.fetch>[0];
type Init = Parameters<typeof globalThis.fetch>[1];

/** True for a POST that takes an event stream and, as far as that can be seen, says `initialize`. */
export function mayInitialize(input: Input, init: Init): boolean {
  const isRequest = typeof input === 'object' && !(input instanceof URL);
  const method = init?.method ?? (isRequest ? (input as Request).method : undefined);
  if (method?.toUpperCase() !== 'POST') return false;
  const headers = init?.headers ?? (isRequest ? (input as Request).headers : undefined);
  if (headers === undefined || !(valueOf(headers, 'accept') ?? '').includes('text/event-stream'))
    return false;
  const body = init?.body ?? undefined;
  if (body === undefined) return isRequest;
  if (typeof body === 'string') return body.includes('"initialize"');
  return !(body instanceof ReadableStream) && !(body instanceof FormData);
}

function valueOf(headers: unknown, wanted: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const { get } = headers as { get?: unknown };
  if (typeof get === 'function') return (headers as Headers).get(wanted) ?? undefined;
  const pairs =
    Symbol.iterator in headers ? (headers as Iterable<[string, string]>) : Object.entries(headers);
  for (const [name, value] of pairs) if (String(name).toLowerCase() === wanted) return String(value);
  return undefined;
}
