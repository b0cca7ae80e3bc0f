/**
 * Requests in flight on one session, each under a key of its own exchange, never under its bare id:
 * one widespread client sends id 1 for every request and pools one session over several chats (reports R085, R086).
 * Owns: exchange keys, which ids are in use, which exchange a `notifications/cancelled` means.
 * Refuses: to guess. A cancellation that fits two exchanges fits none.
 */
import { idKey } from '../../protocol/ids.js';
import { isWorkMethod, type RequestId } from '../../protocol/jsonrpc.js';

/** One request and the answer it waits for. */
export interface Exchange {
  /** Different for every exchange of a session, so it can serve as the id towards a server. */
  readonly key: string;
  readonly id: RequestId;
  readonly method: string;
  /** Another request with this id (and JSON type) was in flight when it came: renumber it, or refuse it. */
  readonly isDuplicate: boolean;
  /** It found the session dormant: whatever it needs has to be opened again first. */
  readonly woke: boolean;
  /**
   * The final response is out, with this HTTP status, or undefined when it never will be. Once only.
   * Below 400 it was work, unless it was a `ping`.
   */
  end(status?: number): void;
}

export interface Exchanges {
  begin(request: Pick<Exchange, 'id' | 'method' | 'woke'>): Exchange;
  /** The one exchange that this id names; undefined when there is none, or more than one. */
  only(id: RequestId): Exchange | undefined;
  /** Forgets them all; their `end` does nothing from now on. */
  clear(): void;
}

export interface ExchangesOptions {
  onBegin: (key: string) => void;
  onEnd: (key: string, hasWorked: boolean) => void;
}

export function createExchanges({ onBegin, onEnd }: ExchangesOptions): Exchanges {
  const byId = new Map<string, Set<Exchange>>();
  let counter = 0;

  const remove = (exchange: Exchange): boolean => {
    const id = idKey(exchange.id);
    const same = byId.get(id);
    if (same === undefined || !same.delete(exchange)) return false;
    if (same.size === 0) byId.delete(id);
    return true;
  };

  return {
    begin(request) {
      const id = idKey(request.id);
      const same = byId.get(id);
      const exchange: Exchange = {
        ...request,
        key: `x${++counter}`,
        isDuplicate: same !== undefined,
        end(status) {
          if (!remove(exchange)) return;
          onEnd(exchange.key, isWorkMethod(exchange.method) && status !== undefined && status < 400);
        },
      };
      if (same === undefined) byId.set(id, new Set([exchange]));
      else same.add(exchange);
      onBegin(exchange.key);
      return exchange;
    },
    only(id) {
      const same = byId.get(idKey(id));
      if (same === undefined || same.size !== 1) return undefined;
      const [exchange] = same;
      return exchange;
    },
    clear: () => byId.clear(),
  };
}
