/**
 * `mooring/register`: the preload. Every MCP session that this process opens through `fetch` is kept by Mooring.
 * Owns: the wrapped `globalThis.fetch`, once for a process; whether a call may be MCP at all.
 * Refuses: to load anything before the first `initialize`; to touch what is not MCP.
 * CommonJS, in one file: `--import` costs a process 5 to 10 ms before it begins, `--require` of this next to nothing.
 */
import type { Registered } from './registered.js' with { 'resolution-mode': 'import' };

type Fetch = typeof globalThis.fetch;
type Input = Parameters<Fetch>[0];
type Init = Parameters<Fetch>[1];

/** A second preload, also one of another copy of the package, finds the first one here. */
const REGISTERED = Symbol.for('mooring.register.v1');
/** The mark on Mooring's own requests; see ../own-request.ts. */
const OWN = Symbol.for('mooring.own-request.v1');

function register(): void {
  const shared = globalThis as { [REGISTERED]?: boolean };
  if (process.env.MOORING_OFF !== undefined && process.env.MOORING_OFF !== '') return;
  if (shared[REGISTERED] === true || typeof globalThis.fetch !== 'function') return;
  shared[REGISTERED] = true;
  const base: Fetch = globalThis.fetch;
  let loading: Promise<Registered> | undefined;
  let loaded: Registered | undefined;

  const wrapped: Fetch = function fetch(input, init) {
    const plain = (): Promise<Response> => Reflect.apply(base, globalThis, [input, init]);
    if (isOwn(init)) return plain();
    if (loaded !== undefined) return loaded.handle(input, init, plain);
    if (loading === undefined && !mayInitialize(input, init)) return plain();
    loading ??= import('./registered.js').then(({ createRegistered }) => {
      loaded = createRegistered(base);
      return loaded;
    });
    return loading.then(({ handle }) => handle(input, init, plain));
  };
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
  Object.defineProperty(globalThis, 'fetch', {
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
    writable: true,
    value: wrapped,
  });
}

function isOwn(init: unknown): boolean {
  return typeof init === 'object' && init !== null && (init as { [OWN]?: unknown })[OWN] === true;
}

/** True for a POST that takes an event stream and, as far as that can be seen, says `initialize`. */
function mayInitialize(input: Input, init: Init): boolean {
  const isRequest = typeof input === 'object' && input !== null && !(input instanceof URL);
  const method = init?.method ?? (isRequest ? (input as Request).method : undefined);
  if (typeof method !== 'string' || method.toUpperCase() !== 'POST') return false;
  const headers = init?.headers ?? (isRequest ? (input as Request).headers : undefined);
  if (!(valueOf(headers, 'accept') ?? '').includes('text/event-stream')) return false;
  const body = init?.body ?? undefined;
  if (body === undefined) return isRequest;
  // What is not text yet is looked at more closely by what is loaded now.
  return typeof body !== 'string' || body.includes('"initialize"');
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

register();
