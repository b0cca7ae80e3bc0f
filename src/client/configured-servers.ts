/**
 * The configured servers and, for each, the pools of its principals: also those that a reload has taken away.
 * Owns: which pool a caller gets, and every pool until its last session is ended.
 * Refuses: to forget a pool that still has sessions.
 */
import { MooringError } from '../errors.js';
import type { Entry } from '../session/outbound/pool.js';
import { untilAborted } from '../session/waiting.js';
import { type Core, createTally } from './core.js';
import { createCredentials, type Credentials } from './credentials.js';
import { applyBounds, type ServerSettings, sameServer } from './options.js';
import { createPrincipals } from './principal.js';
import type { SdkClient } from './sdk-shapes.js';
import type { Tally } from './server-context.js';
import { createServerPool, type Member, type ServerPool } from './server-pool.js';

export interface ConfiguredServers<C extends SdkClient> {
  /**
   * Lends the session of a scope to whoever calls now; `check` throws if it is too late by then.
   * Rejects with MOORING_BAD_OPTIONS, what the host's functions reject with, and what a pool rejects with.
   */
  acquire(name: string, scope: string, signal: AbortSignal | undefined, check: () => void): Promise<Loan<C>>;
  /** Every pool that may still have sessions. */
  pools(): Array<ServerPool<C>>;
  /** Takes over a configuration; resolves when the sessions of servers that are gone or changed have ended. */
  reload(next: ReadonlyMap<string, ServerSettings>): Promise<void>;
  /** Current pools and counters, by name. */
  entries(): Array<{ name: string; tally: Tally; pools: Array<ServerPool<C>> }>;
}

/** A session that was lent, and where it has to be given back. */
export interface Loan<C extends SdkClient> {
  pool: ServerPool<C>;
  entry: Entry<Member<C>>;
}

export interface ConfiguredServersOptions<C extends SdkClient> {
  core: Core;
  createClient(session: { server: string; scope: string }): C;
}

interface Configured<C extends SdkClient> {
  settings: ServerSettings;
  credentials: Credentials;
  pools: Map<string, ServerPool<C>>;
  /** Sessions of an older configuration that still count. */
  leaving: Promise<unknown>;
}

/** Principal of everybody, where a provider of tokens speaks for one. */
const PROVIDER = 'provider';

export function createConfiguredServers<C extends SdkClient>(
  initial: ReadonlyMap<string, ServerSettings>,
  { core, createClient }: ConfiguredServersOptions<C>,
): ConfiguredServers<C> {
  const servers = new Map<string, Configured<C>>();
  const tallies = new Map<string, Tally>();
  const leaving = new Set<ServerPool<C>>();
  /** Sessions of a name's older configurations, until the last has ended. */
  const leavingByName = new Map<string, Promise<unknown>>();
  const principals = createPrincipals(core.fingerprint);

  const configure = (name: string, settings: ServerSettings, gone: Promise<unknown>): void => {
    const credentials = createCredentials(name, settings);
    servers.set(name, { settings, credentials, pools: new Map(), leaving: gone });
  };
  for (const [name, settings] of initial) configure(name, settings, Promise.resolve());

  const tallyOf = (name: string): Tally => {
    const tally = tallies.get(name) ?? createTally();
    tallies.set(name, tally);
    return tally;
  };

  const find = (name: string): Configured<C> => {
    const found = servers.get(name);
    if (found !== undefined) return found;
    const known = [...servers.keys()].join(', ') || 'none';
    throw new MooringError('MOORING_BAD_OPTIONS', `no server is called ${name}; configured: ${known}`, {
      server: name,
    });
  };

  const principalOf = async (
    name: string,
    { settings, credentials }: Configured<C>,
  ): Promise<{ principal: string; owner?: string }> => {
    const { principal } = settings;
    if (principal !== undefined) {
      const told: unknown = typeof principal === 'function' ? await principal() : principal;
      if (typeof told === 'string' && told !== '') {
        const owner = `principal ${told}`;
        return { principal: core.fingerprint(owner), owner };
      }
      throw new MooringError(
        'MOORING_BAD_OPTIONS',
        `${name}: principal() returned ${typeof told}; return a string that is different for each user`,
        { server: name },
      );
    }
    if (settings.authProvider !== undefined) return { principal: PROVIDER, owner: PROVIDER };
    return { principal: principals.of(await credentials.headers()) };
  };

  const poolFor = (
    name: string,
    server: Configured<C>,
    { principal, owner }: { principal: string; owner?: string },
  ): ServerPool<C> => {
    const existing = server.pools.get(principal);
    if (existing !== undefined) return existing;
    const isTold = server.settings.principal === undefined && server.settings.authProvider === undefined;
    const pool: ServerPool<C> = createServerPool<C>({
      context: core.context(name, server.settings, server.credentials, {
        tally: tallyOf(name),
        principal,
        ...(owner === undefined ? {} : { owner }),
        onAccepted: (credentials) => {
          if (isTold) principals.accepted(credentials);
        },
      }),
      isOwn: (credentials) => !isTold || principals.of(credentials) === principal,
      before: server.leaving,
      createClient: (scope) => createClient({ server: name, scope }),
      onEmpty: () => {
        if (server.pools.get(principal) === pool) server.pools.delete(principal);
      },
      isEnding: () => core.isEnding,
    });
    server.pools.set(principal, pool);
    return pool;
  };

  const retire = (server: Configured<C>): Promise<unknown> => {
    const pools = [...server.pools.values()];
    return Promise.all(
      pools.map(async (pool) => {
        leaving.add(pool);
        await pool.close('reloaded');
        leaving.delete(pool);
      }),
    );
  };

  return {
    async acquire(name, scope, signal, check) {
      for (;;) {
        const server = find(name);
        const principal = await untilAborted(principalOf(name, server), signal);
        check();
        // A reload in the meantime may have changed the server.
        if (servers.get(name) !== server) continue;
        // In one step: a pool that has emptied in between would be nobody's.
        const pool = poolFor(name, server, principal);
        return { pool, entry: await pool.acquire(scope, signal) };
      }
    },
    pools: () => [...[...servers.values()].flatMap(({ pools }) => [...pools.values()]), ...leaving],
    async reload(next) {
      const gone: Array<Promise<unknown>> = [];
      for (const [name, server] of [...servers]) {
        const settings = next.get(name);
        if (settings !== undefined && sameServer(server.settings, settings)) {
          applyBounds(server.settings, settings);
          for (const pool of server.pools.values()) pool.boundsChanged();
          continue;
        }
        const retired = Promise.all([server.leaving, retire(server)]);
        gone.push(retired);
        servers.delete(name);
        leavingByName.set(name, retired);
        void retired.then(() => {
          if (leavingByName.get(name) === retired) leavingByName.delete(name);
        });
      }
      for (const [name, settings] of next) {
        if (!servers.has(name)) configure(name, settings, leavingByName.get(name) ?? Promise.resolve());
      }
      await Promise.all(gone);
    },
    entries: () =>
      [...servers].map(([name, { pools }]) => ({ name, tally: tallyOf(name), pools: [...pools.values()] })),
  };
}
