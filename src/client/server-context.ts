/**
 * What all sessions with one server and principal share.
 * Owns: nothing but the bundle; each part has a file of its own.
 */
import type { Clock } from '../clock.js';
import type { Fingerprint } from '../session/fingerprint.js';
import type { Ledger } from '../session/outbound/ledger.js';
import type { ListChanges } from '../session/outbound/list-changes.js';
import type { OpenLimiter } from '../session/outbound/open-limiter.js';
import type { Owed } from '../session/outbound/owed.js';
import type { ServerMemory } from '../session/outbound/server-memory.js';
import type { Terminator } from '../session/outbound/terminator.js';
import type { Credentials } from './credentials.js';
import type { OwedTarget } from './process-hooks.js';
import type { ServerSettings } from './options.js';
import type { Wire } from './wire.js';

export interface ServerContext {
  /** How errors, events and stats name the server. */
  readonly name: string;
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly wire: Wire;
  readonly credentials: Credentials;
  /** The same headers, asked for on behalf of whoever opened the session: for what nobody calls for just now. */
  readonly background: () => Promise<Map<string, string>>;
  readonly memory: ServerMemory;
  readonly limiter: OpenLimiter;
  readonly terminator: Terminator;
  readonly lists: ListChanges;
  readonly ledger: Ledger;
  /** How the end of the process ends what is left. */
  readonly owed: Owed<() => OwedTarget>;
  readonly latest: LatestCredentials;
  readonly fingerprint: Fingerprint;
  /** Fingerprint of whose credentials these are. */
  readonly principal: string;
  /** Whose they are in words that another process understands, where the headers do not tell. Never printed. */
  readonly owner?: string;
  readonly tally: Tally;
  /** The server accepted `initialize` with these headers. */
  onAccepted(headers: ReadonlyMap<string, string>): void;
}

/** What the host's headers were at the last request of this principal, whichever session sent it. */
export interface LatestCredentials {
  headers: ReadonlyMap<string, string>;
}

/** Counters of `stats()`; they only grow. */
export interface Tally {
  opened: number;
  reopened: number;
  deleted: number;
  notConfirmed: number;
  reclaimed: number;
}
