/**
 * `createSessions`: every MCP session of a process, opened once per scope, reused, bounded, ended.
 * Owns: lending, scopes, reload and close; the pools are configured-servers.ts'.
 * Refuses: two sessions for one server, scope and principal; options that are misspelt.
 */
import { MooringError } from '../errors.js';
import { createConfiguredServers } from './configured-servers.js';
import { createCore, type LedgerOption } from './core.js';
import { ledgerFault } from './ledger-option.js';
import { createLease, type Lease } from './lease.js';
import { readServerOptions, type ServerOptions, type ServerSettings } from './options.js';
import type { SdkClient } from './sdk-shapes.js';
import { neverSettles } from './sdk-transport.js';
import type { PoolCounts } from './server-pool.js';

export interface SessionsOptions<C extends SdkClient> {
  /** The servers, by the names that `use` and `acquire` take. */
  servers: Record<string, ServerOptions>;
  /** Makes the SDK client, v1 or v2, of one session; Mooring connects it. */
  createClient(session: { server: string; scope: string }): C;
  /**
   * The record of open sessions that outlives a crash: `false` for none, `{ dir }` for a folder of your own.
   * @default MOORING_LEDGER_DIR, or mooring/ledger where the system keeps a user's state
   */
  ledger?: LedgerOption | undefined;
  /** False leaves signals and the end of the process to the host. @default true */
  hooks?: boolean;
}

export interface UseOptions {
  /** What the session belongs to: a conversation, a run. @default 'process' */
  scope?: string;
  signal?: AbortSignal;
}

/** Counts of one server; the first six are of now (of the current configuration), the others since the start. */
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
  /**
   * The same by hand: give the lease back with `release()`, or let `await using` do it.
   * @throws MooringError as `use`
   */
  acquire(server: string, options?: UseOptions): Promise<Lease<C>>;
  /** The conversation, run or window is over: ends its sessions with every server. Never rejects. */
  endScope(scope: string): Promise<void>;
  /** New configuration: changed servers get new sessions, changed bounds apply at once. @throws MOORING_BAD_OPTIONS */
  reload(servers: Record<string, ServerOptions>): Promise<void>;
  /** Ends everything; nothing is lent any more. Never rejects. */
  close(): Promise<void>;
  stats(): Readonly<{ servers: Readonly<Record<string, Readonly<ServerStats>>> }>;
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
  const settings = readServers(options.servers);
  let closed: Promise<void> | undefined;
  /** Callers on their way to a pool, which the end of their scope must reach as well. */
  const coming = new Set<{ scope: string; isOver: boolean }>();

  const core = createCore({
    hooks: options.hooks ?? true,
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
    async release(deadlineMs) {
      await Promise.all(servers.pools().map((pool) => pool.endNow(deadlineMs)));
    },
    async rest() {
      await Promise.all(servers.pools().map((pool) => pool.rest()));
    },
  });
  const servers = createConfiguredServers<C>(settings, { core, createClient: options.createClient });

  const acquire = async (name: string, useOptions: UseOptions = {}): Promise<Lease<C>> => {
    checkUseOptions(useOptions);
    const { scope = 'process', signal } = useOptions;
    const arrival = { scope, isOver: false };
    coming.add(arrival);
    try {
      const check = (): void => {
        if (closed !== undefined || arrival.isOver) throw closedError(name);
      };
      check();
      signal?.throwIfAborted();
      const { pool, entry } = await servers.acquire(name, scope, signal, check);
      return createLease({
        server: name,
        scope,
        member: entry.resource,
        release: () => pool.giveBack(entry),
        fingerprint: core.fingerprint,
      });
    } catch (error) {
      if (core.isEnding) return await neverSettles();
      throw error;
    } finally {
      coming.delete(arrival);
    }
  };

  return {
    acquire,
    async use(name, useOptions, fn) {
      if (typeof fn !== 'function')
        throw badUse(`use('${name}', { scope }, fn) wants a function as its third argument`);
      const lease = await acquire(name, useOptions);
      try {
        return await fn(lease.client, lease);
      } finally {
        lease.release();
      }
    },
    async endScope(scope) {
      for (const arrival of coming) if (arrival.scope === scope) arrival.isOver = true;
      await Promise.all(servers.pools().map((pool) => pool.endScope(scope)));
    },
    async reload(next) {
      if (closed !== undefined) throw closedError('any server');
      await servers.reload(readServers(next));
    },
    close() {
      closed ??= Promise.all(servers.pools().map((pool) => pool.close('closed'))).then(() => core.retire());
      return closed;
    },
    stats() {
      const result: Record<string, Readonly<ServerStats>> = {};
      for (const { name, tally, pools } of servers.entries()) {
        const now: PoolCounts = { opening: 0, live: 0, retiring: 0, leased: 0, waiting: 0, streams: 0 };
        for (const pool of pools) {
          for (const [key, value] of Object.entries(pool.counts())) now[key as keyof PoolCounts] += value;
        }
        result[name] = Object.freeze({ ...now, ...tally });
      }
      return Object.freeze({ servers: Object.freeze(result) });
    },
  };
}

function readServers(servers: Record<string, ServerOptions>): Map<string, ServerSettings> {
  return new Map(Object.entries(servers).map(([name, value]) => [name, readServerOptions(name, value)]));
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

function badUse(text: string): MooringError {
  return new MooringError('MOORING_BAD_OPTIONS', text);
}

function checkUseOptions(options: UseOptions): void {
  if (typeof options !== 'object' || options === null)
    throw badUse('options: must be an object like { scope }');
  const unknown = Object.keys(options).filter((name) => name !== 'scope' && name !== 'signal');
  if (unknown.length > 0) throw badUse(`unknown option ${unknown.join(', ')}; there are scope, signal`);
  const { scope, signal } = options;
  if (scope !== undefined && typeof scope !== 'string') throw badUse('scope: must be a string');
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw badUse('signal: must be an AbortSignal');
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
  const ledgerProblem = ledgerFault(options.ledger);
  if (ledgerProblem !== undefined) fault(ledgerProblem);
}
