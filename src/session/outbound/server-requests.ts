/**
 * Requests that the server sent us and that wait for our answer, over all generations of one handle.
 * Owns: which generation each came on, ids that are unique towards the host (JSON type kept).
 * Refuses: to hand an answer to any generation but its own (reports R082, R085): a late one is dropped.
 */
import { freeId, idKey } from '../../protocol/ids.js';
import type { RequestId } from '../../protocol/jsonrpc.js';

export interface ServerRequests {
  /** Registers a delivered request; returns the id that the host sees. */
  deliver(generation: number, id: RequestId): RequestId;
  /** The host answered; where the answer belongs, or undefined when nobody waits for it. */
  answer(hostId: RequestId): { generation: number; id: RequestId } | undefined;
  /** The server gave up its request: the id that the host knows it by. */
  cancel(generation: number, id: RequestId): RequestId | undefined;
  /** The generation is no more: nobody waits for these host ids. */
  drop(generation: number): RequestId[];
  /** Requests whose answer somebody waits for. */
  readonly size: number;
}

interface Entry {
  hostId: RequestId;
  generation: number;
  id: RequestId;
  /** Nobody waits any more, but the host may still answer: its id must not be given to another request. */
  dead: boolean;
}

/** Hosts need not answer what was cancelled; this many such ids are remembered. */
const REMEMBERED_DEAD = 1_000;

export function createServerRequests(): ServerRequests {
  const byHost = new Map<string, Entry>();
  let counter = 0;
  let dead = 0;

  const kill = (entry: Entry): void => {
    entry.dead = true;
    dead += 1;
    if (dead <= REMEMBERED_DEAD) return;
    for (const [key, other] of byHost) {
      if (!other.dead) continue;
      byHost.delete(key);
      dead -= 1;
      return;
    }
  };

  return {
    deliver(generation, id) {
      const hostId = freeId(
        id,
        (key) => byHost.has(key),
        () => ++counter,
      );
      byHost.set(idKey(hostId), { hostId, generation, id, dead: false });
      return hostId;
    },
    answer(hostId) {
      const key = idKey(hostId);
      const entry = byHost.get(key);
      if (entry === undefined) return undefined;
      byHost.delete(key);
      if (entry.dead) {
        dead -= 1;
        return undefined;
      }
      return { generation: entry.generation, id: entry.id };
    },
    cancel(generation, id) {
      for (const entry of byHost.values()) {
        if (entry.dead || entry.generation !== generation || idKey(entry.id) !== idKey(id)) continue;
        kill(entry);
        return entry.hostId;
      }
      return undefined;
    },
    drop(generation) {
      const dropped: RequestId[] = [];
      for (const entry of [...byHost.values()]) {
        if (entry.dead || entry.generation !== generation) continue;
        kill(entry);
        dropped.push(entry.hostId);
      }
      return dropped;
    },
    get size() {
      return byHost.size - dead;
    },
  };
}
