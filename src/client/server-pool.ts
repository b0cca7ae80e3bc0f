/**
 * The pool of one server and principal, filled with connected SDK clients.
 * Owns: making, idling and ending its members; the policy is session/pool.ts.
 * Refuses: to keep a member whose credentials now count as another principal's.
 */
import type { EndReason } from '../events.js';
import { createPool, type Entry, type Pool } from '../session/pool.js';
import { untilAborted } from '../session/waiting.js';
import { createConnection, type Connection } from './connection.js';
import type { SdkClient } from './sdk-shapes.js';
import { createSdkTransport } from './sdk-transport.js';
import type { ServerContext } from './server-context.js';

/** One session as the host sees it. */
export interface Member<C extends SdkClient> {
  readonly client: C;
  readonly connection: Connection;
}

export interface ServerPoolOptions<C extends SdkClient> {
  context: ServerContext;
  /** Credentials that this pool was made for. */
  headers: ReadonlyMap<string, string>;
  /** False once those credentials turned out to be another pool's principal. */
  isCurrent(headers: ReadonlyMap<string, string>): boolean;
  /** Sessions of an older configuration; none is opened before they are gone. */
  before: Promise<unknown>;
  createClient(scope: string): C;
}

export interface ServerPool<C extends SdkClient> {
  acquire(scope: string, signal?: AbortSignal): Promise<Entry<Member<C>>>;
  /** Gives one lease back. */
  release1(entry: Entry<Member<C>>): void;
  endScope(scope: string): Promise<void>;
  close(reason: EndReason): Promise<void>;
  /** Ends all at once, without waiting for what is in flight. */
  release(deadlineMs: number): Promise<void>;
  /** Puts all to sleep. */
  rest(): Promise<void>;
  boundsChanged(): void;
  counts(): {
    opening: number;
    live: number;
    retiring: number;
    leased: number;
    waiting: number;
    streams: number;
  };
}

export function createServerPool<C extends SdkClient>(options: ServerPoolOptions<C>): ServerPool<C> {
  const { context } = options;
  const { settings } = context;
  const connections = new Set<Connection>();

  const open = async (
    scope: string,
    { up, reason }: { up: AbortSignal; reason(): EndReason },
  ): Promise<Member<C>> => {
    await untilAborted(options.before, up);
    const client = options.createClient(scope);
    const { transport, toHost, onError } = createSdkTransport(
      () => connection,
      (reason) => connection.close(reason),
    );
    const connection: Connection = createConnection(context, {
      scope,
      toHost,
      onError,
      onIdle: () => {
        const entry = entryOf(connection);
        // A borrowed one sleeps and wakes behind its client; one that nobody holds is not worth its place.
        if (entry === undefined || pool.isLeased(entry)) void connection.handle.sleep('idle');
        else void pool.drop(entry, 'idle');
      },
      onEnded: () => {
        connections.delete(connection);
        const entry = entryOf(connection);
        if (entry !== undefined) void pool.drop(entry, 'closed');
      },
    });
    connections.add(connection);
    // Closing ends an `initialize` that is under way, too: what it brings is ended.
    up.addEventListener('abort', () => void connection.close(reason(), { drainMs: 0 }), { once: true });
    try {
      await client.connect(transport);
    } catch (error) {
      await connection.close('error', { drainMs: 0 });
      throw error;
    }
    return { client, connection };
  };

  const pool: Pool<Member<C>> = createPool<Member<C>>({
    clock: context.clock,
    server: context.name,
    maxSessions: settings.maxSessions,
    acquireMs: settings.acquireMs,
    open,
    async retire({ client, connection }, reason) {
      await connection.close(reason);
      // The client's own clean-up; its transport has been closed already.
      await client.close().catch(() => {});
    },
  });

  const entryOf = (connection: Connection): Entry<Member<C>> | undefined =>
    pool.entries().find(({ resource }) => resource.connection === connection);

  return {
    acquire: (scope, signal) => pool.acquire(scope, signal),
    release1(entry) {
      pool.release(entry);
      if (!options.isCurrent(options.headers) && !pool.isLeased(entry)) void pool.drop(entry, 'evicted');
    },
    endScope: (scope) => pool.end(scope, 'scope-ended'),
    close: (reason) => pool.close(reason),
    async release(deadlineMs) {
      const deleteMs = Math.min(deadlineMs, settings.deleteMs);
      await Promise.all(
        [...connections].map((connection) => connection.close('signal', { drainMs: 0, deleteMs })),
      );
    },
    async rest() {
      await Promise.all([...connections].map((connection) => connection.handle.sleep('exit')));
    },
    boundsChanged() {
      pool.setBounds({ maxSessions: settings.maxSessions, acquireMs: settings.acquireMs });
    },
    counts() {
      const counts = pool.counts();
      const asleep = pool
        .entries()
        .filter(({ resource }) => resource.connection.handle.phase === 'dormant').length;
      const streams = [...connections].filter((connection) => connection.streamOpen).length;
      return { ...counts, live: Math.max(0, counts.live - asleep), streams };
    },
  };
}
