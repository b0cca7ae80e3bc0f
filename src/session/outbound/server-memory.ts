/**
 * What was learnt about one server and holds for all its sessions, whoever opened them.
 * Owns: whether it offers a listening stream, whether a held stream starves it, which tools are safe to repeat,
 * where a redirect pointed. Refuses: anything about a principal or a single session.
 */
import type { Clock } from '../../clock.js';

/** A one-worker server, or one without a stream, is asked again after this long, ms. */
export const LISTEN_RETRY_MS = 10 * 60_000;

export interface ServerMemory {
  /** A listening stream has worked here at some time. */
  listenWorked: boolean;
  /** The server pings on its stream: sessions keep their stream while they live. */
  pingsOnStream: boolean;
  /** A same-origin redirect that was followed: the path and query to use from then on. */
  location: URL | undefined;
  /** No stream here for a while. */
  stopListening(): void;
  /** False while a stream is not worth asking for. */
  mayListen(): boolean;
  /** Takes the tools of a tools/list result; malformed ones are ignored. */
  learnTools(result: unknown): void;
  /** True only for a tool known to be read-only or idempotent. */
  isRepeatable(tool: unknown): boolean;
}

export function createServerMemory(clock: Clock): ServerMemory {
  const repeatable = new Map<string, boolean>();
  let listenOffUntil = Number.NEGATIVE_INFINITY;
  return {
    listenWorked: false,
    pingsOnStream: false,
    location: undefined,
    stopListening() {
      listenOffUntil = clock.now() + LISTEN_RETRY_MS;
    },
    mayListen: () => clock.now() >= listenOffUntil,
    learnTools(result) {
      const tools = (result as { tools?: unknown } | null)?.tools;
      if (!Array.isArray(tools)) return;
      for (const tool of tools as Array<{ name?: unknown; annotations?: Record<string, unknown> }>) {
        if (typeof tool?.name !== 'string') continue;
        const hints = tool.annotations ?? {};
        repeatable.set(tool.name, hints.readOnlyHint === true || hints.idempotentHint === true);
      }
    },
    isRepeatable: (tool) => typeof tool === 'string' && repeatable.get(tool) === true,
  };
}
