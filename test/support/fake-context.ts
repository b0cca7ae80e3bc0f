import { createTally } from '../../src/client/core.js';
import { createCredentials } from '../../src/client/credentials.js';
import { readServerOptions, type ServerOptions } from '../../src/client/options.js';
import type { ServerContext } from '../../src/client/server-context.js';
import type { Wire } from '../../src/client/wire.js';
import type { Clock } from '../../src/clock.js';
import { createFingerprint } from '../../src/session/fingerprint.js';
import { noLedger } from '../../src/session/outbound/ledger.js';
import { createListChanges } from '../../src/session/outbound/list-changes.js';
import { createOpenLimiter } from '../../src/session/outbound/open-limiter.js';
import { createOwed } from '../../src/session/outbound/owed.js';
import { createServerMemory } from '../../src/session/outbound/server-memory.js';
import { createTerminator } from '../../src/session/outbound/terminator.js';

/** What a connection runs on, with a clock and a wire of the test's. */
export function fakeContext(clock: Clock, wire: Wire, options: Partial<ServerOptions> = {}): ServerContext {
  const settings = readServerOptions('fake', { url: 'http://127.0.0.1:1/mcp', ...options });
  const credentials = createCredentials('fake', settings);
  return {
    name: 'fake',
    settings,
    clock,
    wire,
    credentials,
    background: credentials.headers,
    latest: { headers: new Map() },
    memory: createServerMemory(clock),
    limiter: createOpenLimiter({
      clock,
      allowance: settings.maxSessions,
      onBackedOff: () => {},
      random: () => 0.5,
    }),
    terminator: createTerminator({ clock, random: () => 0.5 }),
    lists: createListChanges(clock),
    ledger: noLedger,
    owed: createOwed(() => {}),
    fingerprint: createFingerprint(new Uint8Array(32)),
    principal: 'self',
    tally: createTally(),
    onAccepted: () => {},
  };
}

/** Lets everything that is ready run. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
