/**
 * `createSessions`: every MCP session of a process, opened once per scope, reused, bounded, ended.
 * Owns: the configured servers and their pools, one for each principal.
 * Refuses: two sessions for one server, scope and principal; a session that nobody will end.
 */
import { MooringError } from '../errors.js';
import { untilAborted } from '../session/waiting.js';
import { createCore, createTally } from './core.js';
import { createLease, type Lease } from './lease.js';
import {
  applyBounds,
  readServerOptions,
  type ServerOptions,
  type ServerSettings,
  sameServer,
} from './options.js';
import { createPrincipals } from './principal.js';
import type { SdkClient } from './sdk-shapes.js';
import { createServerPool, type ServerPool } from './server-pool.js';
import type { Tally } from './server-context.js';

export interface SessionsOptions<C extends SdkClient> {
  /** The servers, by the names that `use` and `acquire` take. */
  servers: Record<string, ServerOptions>;
  /** Makes the SDK client, v1 or v2, of one session; Mooring connects it. */
  createClient(session: { server: string; scope: string }): C;
  /** The record of sessions that outlives a crash. Only `false` for now: there is none yet. */
  ledger?: false;
  /** False leaves signals and the end of the process to the host. @default true */
  hooks?: boolean;
}

export interface UseOptions {
  /** What the session belongs to: a conversation, a run. @default 'process' */
  scope?: string;
  signal?: AbortSignal;
}

/** Counts of one server; the first six are of now, the others since the start. */
export interface ServerStats {
  opening: number;
  live: number;
  retiring: number;
  leased: number;
  waiting: number;
  streams: number;
  opened: number;
  reopened: number;
  deleted: number;
  notConfirmed: number;
  reclaimed: number;
}

export interface Sessions<C extends SdkClient> {
  /**
   * Lends the session to `fn` and takes it back, whatever happens.
   * @throws MooringError MOORING_POOL_EXHAUSTED, MOORING_OPEN_FAILED, MOORING_UNAUTHORIZED, MOORING_CLOSED,
   * and whatever `fn` throws
   */
  use<T>(server: string, options: UseOptions, fn: (client: C, lease: Lease<C>) => T | Promise<T>): Promise<T>;
  /** The same by hand: give the lease back with `release()`, or let `await using` do it. */
  acquire(server: string, options?: UseOptions): Promise<Lease<C>>;
  /** The conversation, run or window is over: ends its sessions with every server. Never rejects. */
  endScope(scope: string): Promise<void>;
  /** New configuration: changed servers get new sessions, changed bounds apply at once. @throws MOORING_BAD_OPTIONS */
  reload(servers: Record<string, ServerOptions>): Promise<void>;
  /** Ends everything; nothing is lent any more. Never rejects. */
  close(): Promise<void>;
  stats(): Readonly<{ servers: Readonly<Record<string, Readonly<ServerStats>>> }>;
}

interface Configured<C extends SdkClient> {
  settings: ServerSettings;
  pools: Map<string, ServerPool<C>>;
  /** Sessions of an older configuration that still count. */
  leaving: Promise<unknown>;
}

/**
 * One manager for all sessions of a host.
 * @throws MooringError MOORING_BAD_OPTIONS
 * @example
 * ```ts
 * const sessions = createSessions({
 *   servers: { docs: { url: 'http://127.0.0.1:5757/mcp' } },
 *   createClient: () => new Client({ name: 'my-agent', version: '1.0.0' }),
 * });
 * await sessions.use('docs', { scope: 'chat-1' }, (client) => client.callTool({ name: 'echo' }));
 * await sessions.endScope('chat-1'); // one DELETE
 * ```
 */
export function createSessions<C extends SdkClient>(options: SessionsOptions<C>): Sessions<C> {
  checkOptions(options);
  const servers = new Map<string, Configured<C>>();
  const tallies = new Map<string, Tally>();
  let closed: Promise<void> | undefined;

  const allPools = (): Array<ServerPool<C>> =>
    [...servers.values()].flatMap(({ pools }) => [...pools.values()]);

  const core = createCore({
    hooks: options.hooks ?? true,
    exitMs: () => Math.max(0, ...[...servers.values()].map(({ settings }) => settings.exitMs)),
    async release(deadlineMs) {
      await Promise.all(allPools().map((pool) => pool.release(deadlineMs)));
    },
    async rest() {
      await Promise.all(allPools().map((pool) => pool.rest()));
    },
  });
  const principals = createPrincipals(core.fingerprint);

  for (const [name, serverOptions] of Object.entries(options.servers)) {
    const settings = readServerOptions(name, serverOptions);
    servers.set(name, { settings, pools: new Map(), leaving: Promise.resolve() });
  }

  const tallyOf = (name: string): Tally => {
    const tally = tallies.get(name) ?? createTally();
    tallies.set(name, tally);
    return tally;
  };

  const configured = (name: string): Configured<C> => {
    const found = servers.get(name);
    if (found !== undefined) return found;
    const known = [...servers.keys()].join(', ') || 'none';
    throw new MooringError('MOORING_BAD_OPTIONS', `no server is called ${name}; configured: ${known}`, {
      server: name,
    });
  };

  const poolOf = async (name: string, signal: AbortSignal | undefined): Promise<ServerPool<C>> => {
    const server = configured(name);
    const probe = core.context(name, server.settings, {
      tally: tallyOf(name),
      principal: '',
      onAccepted() {},
    });
    // A token provider speaks for one principal, whatever token it hands out today.
    const headers =
      server.settings.authProvider === undefined
        ? await untilAborted(probe.credentials.headers(), signal)
        : new Map<string, string>();
    const principal = principals.of(headers);
    if (closed !== undefined || servers.get(name) !== server) throw closedError(name);
    let pool = server.pools.get(principal);
    if (pool === undefined) {
      pool = createServerPool<C>({
        context: core.context(name, server.settings, {
          tally: tallyOf(name),
          principal,
          onAccepted: (sent) => {
            if (server.settings.authProvider === undefined) principals.accepted(sent);
          },
        }),
        isCurrent: (sent) => principals.of(sent) === principal,
        headers,
        before: server.leaving,
        createClient: (scope) => options.createClient({ server: name, scope }),
      });
      server.pools.set(principal, pool);
    }
    return pool;
  };

  const acquire = async (name: string, { scope = 'process', signal }: UseOptions = {}): Promise<Lease<C>> => {
    if (closed !== undefined) throw closedError(name);
    signal?.throwIfAborted();
    const pool = await poolOf(name, signal);
    const entry = await pool.acquire(scope, signal);
    return createLease({
      server: name,
      scope,
      member: entry.resource,
      release: () => pool.release1(entry),
      fingerprint: core.fingerprint,
    });
  };

  return {
    acquire,
    async use(name, useOptions, fn) {
      const lease = await acquire(name, useOptions);
      try {
        return await fn(lease.client, lease);
      } finally {
        lease.release();
      }
    },
    async endScope(scope) {
      await Promise.all(allPools().map((pool) => pool.endScope(scope)));
    },
    async reload(next) {
      if (closed !== undefined) throw closedError('any server');
      const read = new Map(
        Object.entries(next).map(([name, value]) => [name, readServerOptions(name, value)]),
      );
      const leaving: Array<Promise<unknown>> = [];
      for (const [name, server] of [...servers]) {
        const settings = read.get(name);
        if (settings !== undefined && sameServer(server.settings, settings)) {
          applyBounds(server.settings, settings);
          for (const pool of server.pools.values()) pool.boundsChanged();
          continue;
        }
        const gone = Promise.all([...server.pools.values()].map((pool) => pool.close('reloaded')));
        leaving.push(gone);
        servers.delete(name);
        if (settings !== undefined) servers.set(name, { settings, pools: new Map(), leaving: gone });
      }
      for (const [name, settings] of read) {
        if (!servers.has(name)) servers.set(name, { settings, pools: new Map(), leaving: Promise.resolve() });
      }
      await Promise.all(leaving);
    },
    close() {
      closed ??= Promise.all(allPools().map((pool) => pool.close('closed'))).then(() => core.retire());
      return closed;
    },
    stats() {
      const result: Record<string, Readonly<ServerStats>> = {};
      for (const [name, { pools }] of servers) {
        const stats: ServerStats = {
          opening: 0,
          live: 0,
          retiring: 0,
          leased: 0,
          waiting: 0,
          streams: 0,
          ...tallyOf(name),
        };
        for (const pool of pools.values()) {
          for (const [key, value] of Object.entries(pool.counts())) stats[key as keyof ServerStats] += value;
        }
        result[name] = Object.freeze(stats);
      }
      return Object.freeze({ servers: Object.freeze(result) });
    },
  };
}

function closedError(name: string): MooringError {
  return new MooringError(
    'MOORING_CLOSED',
    `sessions with ${name} were closed; acquire again, or create new ones`,
    {
      server: name,
    },
  );
}

function checkOptions(options: Readonly<Partial<Record<keyof SessionsOptions<SdkClient>, unknown>>>): void {
  const fault = (text: string): never => {
    throw new MooringError('MOORING_BAD_OPTIONS', `createSessions: ${text}`);
  };
  if (typeof options !== 'object' || options === null) fault('wants an object with servers and createClient');
  const known = new Set(['servers', 'createClient', 'ledger', 'hooks']);
  const unknown = Object.keys(options).filter((name) => !known.has(name));
  if (unknown.length > 0) fault(`unknown option ${unknown.join(', ')}; there are ${[...known].join(', ')}`);
  if (typeof options.servers !== 'object' || options.servers === null)
    fault('servers: must be an object by name');
  if (typeof options.createClient !== 'function')
    fault('createClient: must be a function that returns an SDK client');
  if (options.hooks !== undefined && typeof options.hooks !== 'boolean')
    fault('hooks: must be true or false');
  if (options.ledger !== undefined && options.ledger !== false)
    fault('ledger: there is none yet; leave it out');
}
