/**
 * The faulty server's sessions: who exists, on which backend, with which cookie, and what waits for an answer.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { SseEvent } from './sse-writer.js';

export interface FaultySession {
  readonly sid: string;
  readonly backend: number;
  readonly cookie: string;
  readonly clientInfo: unknown;
  /** Listening streams that are open. */
  readonly streams: Set<ServerResponse>;
  /** Requests to the client that wait for its answer, by JSON-RPC id. */
  readonly pending: Map<unknown, (answer: unknown) => void>;
  /** Events of calls that can be resumed, by the event id that they follow. */
  readonly resumable: Map<string, Promise<SseEvent[]>>;
}

export interface FaultyTable {
  readonly size: number;
  readonly peak: number;
  open(clientInfo: unknown, backend: number, capacity: number): FaultySession;
  get(sid: string, backend: number): FaultySession | undefined;
  end(sid: string): void;
  /** Forgets everything and ends the streams. */
  forget(): void;
  all(): FaultySession[];
}

export function createTable(): FaultyTable {
  const sessions = new Map<string, FaultySession>();
  let peak = 0;
  const end = (sid: string): void => {
    const session = sessions.get(sid);
    sessions.delete(sid);
    for (const stream of session?.streams ?? []) stream.end();
  };
  return {
    get size() {
      return sessions.size;
    },
    get peak() {
      return peak;
    },
    open(clientInfo, backend, capacity) {
      const session: FaultySession = {
        sid: randomUUID(),
        backend,
        cookie: `route=${randomUUID()}`,
        clientInfo,
        streams: new Set(),
        pending: new Map(),
        resumable: new Map(),
      };
      sessions.set(session.sid, session);
      for (const oldest of sessions.keys()) {
        if (sessions.size <= capacity) break;
        end(oldest);
      }
      peak = Math.max(peak, sessions.size);
      return session;
    },
    get(sid, backend) {
      const session = sessions.get(sid);
      return session?.backend === backend ? session : undefined;
    },
    end,
    forget() {
      for (const sid of [...sessions.keys()]) end(sid);
    },
    all: () => [...sessions.values()],
  };
}
