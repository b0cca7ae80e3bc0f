/**
 * What one `createSessions` or `createTransport` runs on: wires, memory of servers, one terminator, the hooks.
 * Owns: their lifetime. Nothing here is shared between two instances.
 */
import { type Clock, systemClock } from '../clock.js';
import { type Fingerprint, createFingerprint } from '../session/fingerprint.js';
import { createOwed, type Ledger, noLedger } from '../session/ledger.js';
import { createListChanges } from '../session/list-changes.js';
import { createOpenLimiter } from '../session/open-limiter.js';
import { createServerMemory, type ServerMemory } from '../session/server-memory.js';
import { createTerminator } from '../session/terminator.js';
import { publish } from '../events.js';
import { createCredentials } from './credentials.js';
import type { ExitTarget } from './exit-sender.js';
import { createFetchWire, type FetchLike } from './fetch-wire.js';
import type { ServerSettings } from './options.js';
import { hookProcess, type OwedTarget } from './process-hooks.js';
import type { ServerContext, Tally } from './server-context.js';
import { createUndiciWire } from './undici-wire.js';
import type { Wire } from './wire.js';
import { meaningOfDelete } from '../protocol/meaning.js';

export interface Core {
  readonly clock: Clock;
  readonly fingerprint: Fingerprint;
  /** The parts that sessions with one server and principal share. */
  context(
    name: string,
    settings: ServerSettings,
    rest: Pick<ServerContext, 'tally' | 'principal' | 'onAccepted'>,
  ): ServerContext;
  /** Nothing new comes: connections let the process go, hooks go with the last id that is owed a DELETE. */
  retire(): void;
}

export interface CoreOptions {
  hooks: boolean;
  /** @default none: what a killed process leaves behind is for the server's own clock */
  ledger?: Ledger;
  exitMs(): number;
  /** Ends everything now. */
  release(deadlineMs: number): Promise<void>;
  /** Puts everything to sleep. */
  rest(): Promise<void>;
}

export function createCore(options: CoreOptions): Core {
  const clock = systemClock;
  const ledger = options.ledger ?? noLedger;
  const fingerprint = createFingerprint();
  const terminator = createTerminator({ clock });
  const wires = new Map<FetchLike | undefined, Wire>();
  const memories = new Map<string, ServerMemory>();
  let retired = false;
  let unhook: (() => void) | undefined;

  const letGo = (): void => {
    if (!retired || owed.size > 0) return;
    unhook?.();
    unhook = undefined;
  };
  const owed = createOwed<() => ExitTarget>(letGo);

  const exitTargets = (): OwedTarget[] =>
    owed.targets().map(({ id, target }) => ({
      ...target(),
      onStatus(status) {
        if (status > 0 && meaningOfDelete(status) === 'confirmed') ledger.settled(id);
      },
    }));

  if (options.hooks) {
    unhook = hookProcess({
      release: options.release,
      rest: options.rest,
      exitTargets,
      get exitMs() {
        return options.exitMs();
      },
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

  const memoryOf = (url: URL): ServerMemory => {
    let memory = memories.get(url.href);
    if (memory === undefined) memories.set(url.href, (memory = createServerMemory(clock)));
    return memory;
  };

  return {
    clock,
    fingerprint,
    context: (name, settings, rest) => ({
      name,
      settings,
      clock,
      wire: wireFor(settings.fetch),
      credentials: createCredentials(name, settings),
      memory: memoryOf(settings.url),
      limiter: createOpenLimiter({
        clock,
        allowance: settings.maxSessions,
        onBackedOff: (durationMs, reason) => publish('backedOff', { server: name, reason, durationMs }),
      }),
      terminator,
      lists: createListChanges(clock),
      ledger,
      owed,
      fingerprint,
      ...rest,
    }),
    retire() {
      retired = true;
      for (const wire of wires.values()) wire.unref();
      letGo();
    },
  };
}

/** Counters that start at nothing. */
export function createTally(): Tally {
  return { opened: 0, reopened: 0, deleted: 0, notConfirmed: 0, reclaimed: 0 };
}
