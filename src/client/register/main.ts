/**
 * `mooring/register`: the preload. Every MCP session that this process opens through `fetch` is kept by Mooring.
 * Owns: the wrapped `globalThis.fetch`, once for a process.
 * Refuses: to load anything before the first `initialize`; to touch what is not MCP.
 */
import { isOwn } from '../own-request.js';
import { mayInitialize } from './sniff.js';
import type { Registered } from './registered.js';

type Fetch = typeof globalThis.fetch;

/** A second preload, also one of another copy of the package, finds the first one here. */
const REGISTERED = Symbol.for('mooring.register.v1');

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

register();
