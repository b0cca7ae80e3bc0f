/**
 * The pool of one server and principal, filled with connected SDK clients.
 * Owns: making, idling and ending its members; the policy is session/outbound/pool.ts.
 * Refuses: to share a session that was opened with another principal's credentials.
 */
import type { EndReason } from '../events.js';
import { createPool, type Entry, type Pool } from '../session/outbound/pool.js';
import { untilAborted } from '../session/waiting.js';
import { type Connection, createConnection } from './connection.js';
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
  /** True for credentials of this pool's principal. */
  isOwn(credentials: ReadonlyMap<string, string>): boolean;
  /** Sessions of an older configuration; none is opened before they are gone. */
  before: Promise<unknown>;
  createClient(scope: string): C;
  /** Nothing is open, and nobody waits. */
  onEmpty(): void;
  /** A signal is ending the process. */
  isEnding(): boolean;
}

export interface ServerPool<C extends SdkClient> {
  acquire(scope: string, signal?: AbortSignal): Promise<Entry<Member<C>>>;
  /** Gives one lease back. */
  giveBack(entry: Entry<Member<C>>): void;
  endScope(scope: string): Promise<void>;
  close(reason: EndReason): Promise<void>;
  /** Ends all at once, without waiting for what is in flight. */
  endNow(deadlineMs: number): Promise<void>;
  /** Puts all to sleep. */
  rest(): Promise<void>;
  boundsChanged(): void;
  counts(): PoolCounts;
}

export interface PoolCounts {
  opening: number;
  live: number;
  retiring: number;
  leased: number;
  waiting: number;
  streams: number;
}

export function createServerPool<C extends SdkClient>(options: ServerPoolOptions<C>): ServerPool<C> {
  const { context } = options;
  const { settings } = context;
  const connections = new Set<Connection>();
  /** Sessions that were opened, or opened again, with credentials of somebody else. */
  const foreign = new WeakSet<Connection>();

  const open = async (
    scope: string,
    { up, reason }: { up: AbortSignal; reason(): EndReason },
  ): Promise<Member<C>> => {
    await untilAborted(options.before, up);
    const client = options.createClient(scope);
    const { transport, toHost, onError } = createSdkTransport(
      () => connection,
      (why) => connection.close(why),
      options.isEnding,
    );
    const connection: Connection = createConnection(context, {
      scope,
      toHost,
      onError,
      onOpened(credentials) {
        if (options.isOwn(credentials)) return;
        foreign.add(connection);
        const entry = entryOf(connection);
        if (entry !== undefined) pool.detach(entry);
      },
      onIdle() {
        const entry = entryOf(connection);
        // A borrowed one sleeps and wakes behind its client; one that nobody holds is not worth its place.
        if (entry === undefined || pool.isLeased(entry)) void connection.handle.sleep('idle');
        else void pool.drop(entry, 'idle');
      },
      onClosing() {
        const entry = entryOf(connection);
        if (entry !== undefined) void pool.drop(entry, 'closed');
      },
      onEnded: () => connections.delete(connection),
    });
    connections.add(connection);
    // Closing ends an `initialize` that is under way, too: what it brings is ended.
    const onUp = (): void => void connection.close(reason(), { drainMs: 0 });
    up.addEventListener('abort', onUp, { once: true });
    try {
      await client.connect(transport);
    } catch (error) {
      await connection.close('error', { drainMs: 0 });
      throw error;
    } finally {
      up.removeEventListener('abort', onUp);
    }
    return { client, connection };
  };

  const pool: Pool<Member<C>> = createPool<Member<C>>({
    clock: context.clock,
    server: context.name,
    maxSessions: settings.maxSessions,
    acquireMs: settings.acquireMs,
    open,
    isShareable: ({ connection }) => !foreign.has(connection),
    onEmpty: options.onEmpty,
    async retire({ client, connection }, reason) {
      await connection.close(reason);
      // The client's own clean-up; its transport has been closed already.
      if (!options.isEnding()) await client.close().catch(() => {});
    },
  });

  const entryOf = (connection: Connection): Entry<Member<C>> | undefined =>
    pool.entries().find(({ resource }) => resource.connection === connection);

  return {
    acquire: (scope, signal) => pool.acquire(scope, signal),
    giveBack: (entry) => pool.release(entry),
    endScope: (scope) => pool.end(scope, 'scope-ended'),
    close: (reason) => pool.close(reason),
    async endNow(deadlineMs) {
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
      for (const { handle } of connections) handle.work.boundsChanged();
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
