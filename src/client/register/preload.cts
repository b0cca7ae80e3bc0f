/**
 * `mooring/register`: the preload. Every MCP session that this process opens through `fetch`, or through undici's
 * dispatchers, is kept by Mooring.
 * Owns: the wrapped `globalThis.fetch` and `dispatch`, once for a process; whether a call may be MCP at all.
 * Refuses: to load anything before the first `initialize`; to touch what is not MCP.
 * CommonJS, in one file: `--import` costs a process 5 to 10 ms before it begins, `--require` of this next to nothing.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Registered } from './registered.js' with { 'resolution-mode': 'import' };

type Fetch = typeof globalThis.fetch;
/** What says what a call is, of a `fetch` or of a dispatch. */
type Facts = Record<'method' | 'headers' | 'body', unknown>;
type Dispatch = (this: object, options: unknown, handler: unknown) => boolean;

/** A second preload, also one of another copy of the package, finds the first one here. */
const REGISTERED = Symbol.for('mooring.register.v1');
/** The marks on Mooring's own requests; see ../own-request.ts. */
const OWN = Symbol.for('mooring.own-request.v1');
const PASSING = Symbol.for('mooring.passing.v1');
/** Where each copy of undici looks for the dispatcher of the process; from its major 8 on, in the second. */
const SLOTS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];

function register(): void {
  const shared = globalThis as { [REGISTERED]?: boolean; [PASSING]?: unknown };
  if (process.env.MOORING_OFF !== undefined && process.env.MOORING_OFF !== '') return;
  if (shared[REGISTERED] === true || typeof globalThis.fetch !== 'function') return;
  shared[REGISTERED] = true;
  const base: Fetch = globalThis.fetch;
  const passing = createPassing();
  Object.defineProperty(shared, PASSING, { value: passing });
  let loading: Promise<Registered> | undefined;
  let loaded: Registered | undefined;

  const load = (): Promise<Registered> => {
    loading ??= import('./registered.js').then(({ createRegistered }) => {
      loaded = createRegistered(base);
      return loaded;
    });
    return loading;
  };

  const wrapped: Fetch = function fetch(input, init) {
    const plain = (): Promise<Response> => Reflect.apply(base, globalThis, [input, init]);
    if (passing.isOn()) return plain();
    if (loaded !== undefined) return loaded.handle(input, init, plain);
    const isRequest = typeof input === 'object' && input !== null && !(input instanceof URL);
    const request = isRequest ? (input as Request) : undefined;
    const facts = {
      method: init?.method ?? request?.method,
      headers: init?.headers ?? request?.headers,
      body: init?.body ?? request?.body,
    };
    if (loading === undefined && !mayInitialize(facts)) return plain();
    return load().then(({ handle }) => handle(input, init, plain), plain);
  };
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'fetch');
  Object.defineProperty(globalThis, 'fetch', {
    configurable: true,
    enumerable: descriptor?.enumerable ?? true,
    writable: true,
    value: wrapped,
  });

  watchDispatchers(function wrap(original) {
    return function dispatch(options, handler) {
      const facts = options as Facts | null;
      const isMine =
        typeof facts === 'object' &&
        facts !== null &&
        typeof (facts as { origin?: unknown }).origin !== 'undefined' &&
        (facts as { [OWN]?: unknown })[OWN] !== true &&
        (mayInitialize(facts) ||
          (loaded !== undefined && valueOf(facts.headers, 'mcp-session-id') !== undefined)) &&
        !passing.isOn();
      const base = (...wanted: unknown[]): boolean => Reflect.apply(original, this, wanted) as boolean;
      if (!isMine) return base(options, handler);
      void load().then(
        (registered) => registered.dispatch(this, base, options as Facts, handler as object),
        () => base(options, handler),
      );
      return true;
    };
  });
}

/** An async context that is made with its first use: before that nothing passes, and nothing is paid. */
function createPassing(): { isOn(): boolean; run<T>(store: true, run: () => T): T } {
  let context: AsyncLocalStorage<true> | undefined;
  return {
    isOn: () => context?.getStore() === true,
    run(store, run) {
      context ??= new (require('node:async_hooks').AsyncLocalStorage)() as AsyncLocalStorage<true>;
      return context.run(store, run);
    },
  };
}

/**
 * Wraps `dispatch` of undici's dispatchers, in whichever copy of undici, set for the process or named with a request:
 * once for a class, when its first instance is made. Dispatchers are event emitters, and every emitter is made by
 * `EventEmitter.init`; node:domain hooks the same place.
 */
function watchDispatchers(wrap: (original: Dispatch) => Dispatch): void {
  const seen = new WeakSet<object>();
  const watch = (dispatcher: unknown): void => {
    let holder: unknown = dispatcher;
    while (typeof holder === 'object' && holder !== null && !Object.hasOwn(holder, 'dispatch')) {
      holder = Object.getPrototypeOf(holder);
    }
    if (typeof holder !== 'object' || holder === null || seen.has(holder)) return;
    seen.add(holder);
    const descriptor = Object.getOwnPropertyDescriptor(holder, 'dispatch');
    if (typeof descriptor?.value !== 'function' || descriptor.configurable !== true) return;
    Object.defineProperty(holder, 'dispatch', { ...descriptor, value: wrap(descriptor.value as Dispatch) });
  };
  // Those that were there before us.
  for (const slot of SLOTS) watch((globalThis as Record<symbol, unknown>)[slot]);
  const { EventEmitter: emitters } = require('node:events') as {
    EventEmitter: { init(this: object, options: unknown): void };
  };
  const { init } = emitters;
  const known = new WeakSet<object>();
  emitters.init = function (options) {
    const prototype = Object.getPrototypeOf(this) as object | null;
    if (prototype !== null && !known.has(prototype)) {
      known.add(prototype);
      // Asked for by name alone: what is behind a name of somebody else's class is not ours to run.
      if ('dispatch' in prototype && 'close' in prototype && 'destroy' in prototype) watch(prototype);
    }
    init.call(this, options);
  };
}

/** True for a POST that takes both kinds of answer and, as far as that can be seen, says `initialize`. */
function mayInitialize({ method, headers, body }: Facts): boolean {
  if (typeof method !== 'string' || method.toUpperCase() !== 'POST') return false;
  const accept = valueOf(headers, 'accept') ?? '';
  if (!accept.includes('text/event-stream') || !accept.includes('application/json')) return false;
  if (body === undefined || body === null) return false;
  // What is not text yet is looked at more closely by what is loaded now.
  return typeof body !== 'string' || body.includes('"initialize"');
}

/** One header, in whichever of the shapes that `fetch` and undici take. */
function valueOf(headers: unknown, wanted: string): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const { get } = headers as { get?: unknown };
  if (typeof get === 'function') return (headers as Headers).get(wanted) ?? undefined;
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    const at = headers.findIndex((name, n) => n % 2 === 0 && String(name).toLowerCase() === wanted);
    return at === -1 ? undefined : String(headers[at + 1]);
  }
  const pairs =
    Symbol.iterator in headers ? (headers as Iterable<[string, unknown]>) : Object.entries(headers);
  for (const [name, value] of pairs) if (String(name).toLowerCase() === wanted) return String(value);
  return undefined;
}

register();
