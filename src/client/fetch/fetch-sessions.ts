/**
 * Every session that libraries hold through one `fetch`: found by URL and id, bounded by server and principal.
 * Owns: the table, one pool for each server and principal, what sleeps.
 * Refuses: what it does not know; that is the server's to answer.
 */
import { randomUUID } from 'node:crypto';
import type { EndReason } from '../../events.js';
import type { WithId } from '../../protocol/jsonrpc.js';
import { createPool, type Entry, type Pool } from '../../session/outbound/pool.js';
import { type Core, createTally } from '../core.js';
import { createFetchWire, type FetchLike } from '../fetch-wire.js';
import type { ServerSettings } from '../options.js';
import { createPrincipals } from '../principal.js';
import type { ServerContext } from '../server-context.js';
import { type Call, hostHeaders } from './call.js';
import { createLibrarySession, type LibrarySession } from './library-session.js';
import { createPostReply } from './post-reply.js';
import { createSpokenCredentials } from './spoken-credentials.js';

export interface FetchSessions {
  /** The session that a call names, or the one of a server that issues no ids. */
  find(call: Call): LibrarySession | undefined;
  /** Opens one; resolves with the response to `initialize`, rejects only with the reason of an abort. */
  open(
    call: Call,
    initialize: WithId & { method: string },
    how: { settings: ServerSettings; wire: FetchLike | undefined },
  ): Promise<Response>;
  /** Ends all: drains, or with a deadline at once. Never rejects. */
  close(reason: EndReason, limits?: { drainMs: number; deleteMs: number }): Promise<void>;
  /** Puts all to sleep. Never rejects. */
  rest(): Promise<void>;
}

interface Server {
  context: ServerContext;
  pool: Pool<LibrarySession>;
}

/** Sessions that sleep are kept for a library that comes back after all; more than this many are not. */
const MAX_ASLEEP = 1_000;

export function createFetchSessions(core: () => Core): FetchSessions {
  const servers = new Map<string, Server>();
  /** By scope, which is each session's own. */
  const all = new Map<string, LibrarySession>();
  const byId = new Map<string, LibrarySession>();
  /** The latest of each server and principal that was given no id. */
  const withoutId = new Map<string, LibrarySession>();
  const asleep = new Set<LibrarySession>();
  let principals: ReturnType<typeof createPrincipals> | undefined;
  let counter = 0;

  const keyOf = (url: URL, id: string): string => `${url.href} ${id}`;
  const ownerOf = (call: Call): string => {
    principals ??= createPrincipals(core().fingerprint);
    return `${call.url.href} ${principals.of(hostHeaders(call.headers))}`;
  };

  const entryOf = ({ pool }: Server, session: LibrarySession): Entry<LibrarySession> | undefined =>
    pool.entries().find(({ resource }) => resource === session);

  const serverFor = (call: Call, settings: ServerSettings): Server => {
    const owner = ownerOf(call);
    const known = servers.get(owner);
    if (known !== undefined) return known;
    const { credentials } = createSpokenCredentials(call.headers);
    const context = core().context(settings.url.host, settings, credentials, {
      tally: createTally(),
      principal: owner.slice(owner.lastIndexOf(' ') + 1),
      onAccepted: (accepted) => principals?.accepted(accepted),
    });
    const pool = createPool<LibrarySession>({
      clock: context.clock,
      server: context.name,
      maxSessions: settings.maxSessions,
      acquireMs: settings.acquireMs,
      async open(scope, { up }) {
        const session = all.get(scope);
        if (session === undefined) throw new Error('nobody waits for this session any more');
        asleep.delete(session);
        if (session.hasStarted) await session.connection.handle.open(up);
        else await session.start();
        return session;
      },
      isShareable: () => true,
      retire: (session, reason) => putToSleep(session, reason),
      onEmpty: () => forgetIfUnused(owner),
    });
    const server = { context, pool };
    servers.set(owner, server);
    return server;
  };

  /** Tokens change; a server under a principal that has no session any more is not kept. */
  const forgetIfUnused = (owner: string): void => {
    if ([...all.values()].some(({ server }) => server === owner)) return;
    const { opening = 0, live = 0, retiring = 0 } = servers.get(owner)?.pool.counts() ?? {};
    if (opening + live + retiring === 0) servers.delete(owner);
  };

  const putToSleep = async (session: LibrarySession, reason: EndReason): Promise<void> => {
    if (!all.has(session.scope)) return session.close(reason);
    asleep.add(session);
    const [oldest] = asleep;
    if (asleep.size > MAX_ASLEEP && oldest !== undefined) void oldest.close('closed', { drainMs: 0 });
    return session.connection.handle.sleep(reason);
  };

  const ended = (session: LibrarySession, server: Server): void => {
    if (!all.delete(session.scope)) return;
    asleep.delete(session);
    for (const table of [byId, withoutId]) {
      for (const [key, value] of table) if (value === session) table.delete(key);
    }
    const entry = entryOf(server, session);
    if (entry === undefined) forgetIfUnused(session.server);
    else void server.pool.drop(entry, 'closed');
  };

  return {
    find(call) {
      if (call.sessionId !== undefined) return byId.get(keyOf(call.url, call.sessionId));
      return withoutId.size === 0 || call.method === 'DELETE' ? undefined : withoutId.get(ownerOf(call));
    },
    async open(call, initialize, { settings, wire }) {
      const server = serverFor(call, settings);
      const owner = ownerOf(call);
      const { context, pool } = server;
      const session = createLibrarySession({
        context: wire === undefined ? context : { ...context, wire: createFetchWire(wire) },
        clock: context.clock,
        server: owner,
        scope: `session ${++counter}`,
        call,
        initialize,
        acquire: ({ scope }, signal) => pool.acquire(scope, signal),
        release: (entry) => pool.release(entry),
        rest(resting, reason) {
          const entry = entryOf(server, resting);
          if (entry === undefined) return;
          if (pool.isLeased(entry)) void resting.connection.handle.sleep(reason);
          else void pool.drop(entry, reason);
        },
        nameFor(issued) {
          // A server that restarted may issue an id again that a library still knows another session by.
          const name = byId.has(keyOf(call.url, issued)) ? randomUUID() : issued;
          byId.set(keyOf(call.url, name), session);
          return name;
        },
        onEnded: (over) => ended(over, server),
        isEnding: () => core().isEnding,
      });
      all.set(session.scope, session);
      const acquiring = pool.acquire(session.scope, call.signal);
      acquiring.then(
        (entry) => {
          pool.release(entry);
          if (session.id === undefined) withoutId.set(owner, session);
        },
        (error: Error) => {
          if (session.connection.handle.current === undefined) void session.close('error', { drainMs: 0 });
          if (session.hasStarted) return;
          session.failOpening(
            call.signal?.aborted === true ? Promise.reject(error) : refusedOpen(call, initialize, error),
          );
        },
      );
      return session.opening;
    },
    async close(reason, limits) {
      await Promise.all([...all.values()].map((session) => session.close(reason, limits)));
      await Promise.all([...servers.values()].map(({ pool }) => pool.close(reason)));
    },
    async rest() {
      await Promise.all([...all.values()].map(({ connection }) => connection.handle.sleep('exit')));
    },
  };
}

/** The response to an `initialize` that was not even sent. */
export function refusedOpen(call: Call, { id }: WithId, error: unknown): Promise<Response> {
  const reply = createPostReply({
    url: call.url,
    ids: [id],
    isBatch: false,
    isOpening: true,
    sessionId: () => undefined,
    onCancel: () => {},
  });
  reply.fail(id, error);
  return reply.response;
}
