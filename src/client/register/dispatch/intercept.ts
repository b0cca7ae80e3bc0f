/**
 * One dispatch that may be MCP: to the session that it belongs to, or on as it was.
 * Owns: reading its body, and giving it back unread to whoever goes on with it.
 * Refuses: to begin the handler before it is known whose it is: undici begins it itself.
 */
import type { Init } from '../../fetch/call.js';
import type { FetchHandler } from '../../fetch/handler.js';
import type { FetchLike } from '../../fetch-wire.js';
import type { DispatchHandler, DispatchOptions } from './handler.js';
import { createReply } from './reply.js';

/** Never rejects. `plain` dispatches as if nobody had looked. */
export async function intercept(
  claim: FetchHandler['claim'],
  options: DispatchOptions,
  handler: DispatchHandler,
  plain: (options: DispatchOptions) => void,
  wire: FetchLike | undefined,
): Promise<void> {
  const { body, text } = await readBody(options.body);
  const goOn = (): void => {
    try {
      plain({ ...options, body });
    } catch (error) {
      // Whoever dispatched has gone on: there is nobody left to throw at.
      createReply(handler).fail(error);
    }
  };
  const call = text === undefined ? undefined : callOf(options, text);
  if (call === undefined) return goOn();
  const abort = new AbortController();
  const run = await claim(call.url, { ...call.init, signal: abort.signal } as Init, wire);
  if (run === undefined) return goOn();
  const reply = createReply(handler);
  reply.signal.addEventListener('abort', () => abort.abort(reply.signal.reason), { once: true });
  if (reply.signal.aborted) return;
  try {
    await reply.tell(await run());
  } catch (error) {
    reply.fail(error);
  }
}

interface ReadBody {
  /** To be dispatched in its place. */
  body: unknown;
  /** undefined: it could not be read, or is no text. */
  text: string | undefined;
}

/** Bytes of a body that are looked at; an `initialize`, and any call that is worth keeping, is far below. */
const MAX_BYTES = 256 * 1024 * 1024;

async function readBody(body: unknown): Promise<ReadBody> {
  if (body === undefined || body === null) return { body, text: '' };
  if (typeof body === 'string') return { body, text: body };
  if (body instanceof Uint8Array) return { body, text: Buffer.from(body).toString('utf8') };
  if (typeof body !== 'object' || !(Symbol.asyncIterator in body)) return { body, text: undefined };
  const source = body as AsyncIterable<unknown>;
  const iterator = source[Symbol.asyncIterator]();
  const chunks: unknown[] = [];
  let bytes = 0;
  let failure: { error: unknown } | undefined;
  let isWhole = false;
  try {
    while (bytes <= MAX_BYTES) {
      const { done, value } = await iterator.next();
      if (done === true) {
        isWhole = true;
        break;
      }
      chunks.push(value);
      bytes += (value as { length?: number }).length ?? 0;
    }
  } catch (error) {
    failure = { error };
  }
  // The same chunks, and the same end, for undici.
  async function* again(): AsyncGenerator<unknown> {
    yield* chunks;
    if (failure !== undefined) throw failure.error;
    if (!isWhole) yield* { [Symbol.asyncIterator]: () => iterator };
  }
  const text =
    isWhole && chunks.every((chunk) => typeof chunk === 'string' || chunk instanceof Uint8Array)
      ? Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array))).toString('utf8')
      : undefined;
  return { body: again(), text };
}

function callOf(
  { origin, path, method, headers }: DispatchOptions,
  text: string,
): { url: URL; init: { method: string; headers: [string, string][]; body?: string } } | undefined {
  const href = `${origin instanceof URL ? origin.origin : origin}${path ?? ''}`;
  if (!URL.canParse(href)) return undefined;
  const init = {
    method: String(method),
    headers: headerPairs(headers),
    ...(text === '' ? {} : { body: text }),
  };
  return { url: new URL(href), init };
}

/** undici takes a flat list, a list of pairs, an object, or anything that gives pairs. */
function headerPairs(headers: unknown): [string, string][] {
  if (typeof headers !== 'object' || headers === null) return [];
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    return headers.flatMap((name, at) =>
      at % 2 === 0 ? [[String(name), String(headers[at + 1] ?? '')] as [string, string]] : [],
    );
  }
  const pairs =
    Symbol.iterator in headers
      ? (headers as Iterable<[string, unknown]>)
      : Object.entries(headers as Record<string, unknown>);
  const list: [string, string][] = [];
  for (const [name, value] of pairs) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) list.push([String(name), String(one)]);
    }
  }
  return list;
}
