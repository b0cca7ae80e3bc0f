/**
 * What a session was told about its host, so that its successor can be told the same.
 * Owns: the log level and the subscriptions, as the server confirmed them.
 * Refuses: anything else; tasks, cursors and progress belong to the session that is gone.
 */
import type { Message } from '../protocol/jsonrpc.js';

export interface Restore {
  /** The server answered this request with a result. */
  confirmed(request: Message): void;
  /** Requests that bring a new session to the same state; ids are left to the caller. */
  requests(): Array<{ method: string; params: Record<string, unknown> }>;
  readonly hasSubscriptions: boolean;
}

export function createRestore(): Restore {
  let level: Record<string, unknown> | undefined;
  const subscriptions = new Map<string, Record<string, unknown>>();
  return {
    confirmed({ method, params: { _meta, ...params } = {} }) {
      // Progress was for the host's own request, not for ours.
      if (method === 'logging/setLevel') level = params;
      const { uri } = params;
      if (typeof uri !== 'string') return;
      if (method === 'resources/subscribe') subscriptions.set(uri, params);
      if (method === 'resources/unsubscribe') subscriptions.delete(uri);
    },
    requests() {
      const list = [...subscriptions.values()].map((params) => ({ method: 'resources/subscribe', params }));
      return level === undefined ? list : [{ method: 'logging/setLevel', params: level }, ...list];
    },
    get hasSubscriptions() {
      return subscriptions.size > 0;
    },
  };
}
