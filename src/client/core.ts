/**
 * What one `createSessions` or `createTransport` runs on: wires, memory of servers, one terminator, the hooks.
 * Owns: their lifetime. Nothing here is shared between two instances.
 */
import { type Clock, systemClock } from '../clock.js';
import { type Fingerprint, createFingerprint } from '../session/fingerprint.js';
import { noLedger } from '../session/outbound/ledger.js';
import { createLedger } from '../session/outbound/ledger/create-ledger.js';
import { defaultDirectory } from '../session/outbound/ledger/directory.js';
import { createListChanges } from '../session/outbound/list-changes.js';
import { createOpenLimiter, type OpenLimiter } from '../session/outbound/open-limiter.js';
import { createOwed } from '../session/outbound/owed.js';
import { createServerMemory, type ServerMemory } from '../session/outbound/server-memory.js';
import { createTerminator, type Terminator } from '../session/outbound/terminator.js';
import { publish } from '../events.js';
import type { Credentials } from './credentials.js';
import { createFetchWire, type FetchLike } from './fetch-wire.js';
import type { ServerSettings } from './options.js';
import { hookProcess, type OwedTarget } from './process-hooks.js';
import type { ServerContext, Tally } from './server-context.js';
import { createUndiciWire } from './undici-wire.js';
import type { Wire } from './wire.js';

export interface Core {
  readonly clock: Clock;
  readonly fingerprint: Fingerprint;
  /** True once a signal is ending the process: what is pending then is never settled. */
  readonly isEnding: boolean;
  /** The parts that sessions with one server and principal share. */
  context(
    name: string,
    settings: ServerSettings,
    credentials: Credentials,
    rest: Pick<ServerContext, 'tally' | 'principal' | 'owner' | 'onAccepted'>,
  ): ServerContext;
  /** Nothing new comes: connections let the process go, hooks go with the last id that is owed a DELETE. */
  retire(): void;
}

/**
 * The record of open sessions that outlives a crash: false for none, or where it is. `dir` is a folder for this user
 * alone. @default MOORING_LEDGER_DIR, or mooring/ledger where the system keeps a user's state
 */
export type LedgerOption = false | { dir?: string | undefined };

export interface CoreOptions {
  hooks: boolean;
  /** Where to write down what a killed process would leave behind; false: nowhere. */
  ledger?: LedgerOption;
  /** Ends everything now. Never rejects. */
  release(deadlineMs: number): Promise<void>;
  /** Puts everything to sleep. Never rejects. */
  rest(): Promise<void>;
}

/** What all sessions with one URL share, whoever opened them. */
interface PerUrl {
  memory: ServerMemory;
  terminator: Terminator;
}

/** The pace of one URL and principal; it outlives pools and configurations. */
interface Pace {
  limiter: OpenLimiter;
  /** Of the latest configuration. */
  settings: ServerSettings;
  name: string;
}

/** Paces that have nothing to remember are dropped when there are more than this. */
const KEPT_PACES = 64;

export function createCore(options: CoreOptions): Core {
  const clock = systemClock;
  const ledger =
    options.ledger === false
      ? noLedger
      : createLedger({ clock, directory: options.ledger?.dir ?? defaultDirectory() });
  const fingerprint = createFingerprint();
  const wires = new Map<FetchLike | undefined, Wire>();
  const byUrl = new Map<string, PerUrl>();
  const paces = new Map<string, Pace>();
  let isRetired = false;
  let isEnding = false;
  let unhook: (() => void) | undefined;

  const letGo = (): void => {
    if (!isRetired || owed.size > 0) return;
    unhook?.();
    unhook = undefined;
    ledger.release();
  };
  const owed = createOwed<() => OwedTarget>(letGo);

  if (options.hooks) {
    unhook = hookProcess({
      async release(deadlineMs) {
        isEnding = true;
        await options.release(deadlineMs);
      },
      rest: options.rest,
      exitTargets: () => owed.targets().map((target) => target()),
    });
  }

  const wireFor = (fetchLike: FetchLike | undefined): Wire => {
    let wire = wires.get(fetchLike);
    if (wire === undefined) {
      wire = fetchLike === undefined ? createUndiciWire() : createFetchWire(fetchLike);
      wires.set(fetchLike, wire);
    }
    return wire;
  };

  const sharedAt = ({ href }: URL): PerUrl => {
    let shared = byUrl.get(href);
    if (shared === undefined) {
      shared = {
        memory: createServerMemory(clock),
        terminator: createTerminator({ clock }),
      };
      byUrl.set(href, shared);
    }
    return shared;
  };

  const limiterFor = (name: string, settings: ServerSettings, principal: string): OpenLimiter => {
    const key = `${settings.url.href} ${principal}`;
    const known = paces.get(key);
    if (known !== undefined) {
      Object.assign(known, { name, settings });
      return known.limiter;
    }
    if (paces.size >= KEPT_PACES) {
      for (const [other, { limiter }] of paces) if (limiter.isIdle) paces.delete(other);
    }
    const pace: Pace = {
      name,
      settings,
      limiter: createOpenLimiter({
        clock,
        get allowance() {
          return pace.settings.maxSessions;
        },
        onBackedOff: (durationMs, reason) => publish('backedOff', { server: pace.name, reason, durationMs }),
      }),
    };
    paces.set(key, pace);
    return pace.limiter;
  };

  return {
    clock,
    fingerprint,
    get isEnding() {
      return isEnding;
    },
    context: (name, settings, credentials, rest) => ({
      name,
      settings,
      clock,
      wire: wireFor(settings.fetch),
      credentials,
      background: credentials.headers,
      ...sharedAt(settings.url),
      limiter: limiterFor(name, settings, rest.principal),
      latest: { headers: new Map() },
      lists: createListChanges(clock),
      ledger,
      owed,
      fingerprint,
      ...rest,
    }),
    retire() {
      isRetired = true;
      for (const wire of wires.values()) wire.unref();
      letGo();
    },
  };
}

/** Counters that start at nothing. */
export function createTally(): Tally {
  return { opened: 0, reopened: 0, deleted: 0, notConfirmed: 0, reclaimed: 0 };
}
