/**
 * The ledger on disk: one file for each ledger, in a folder that all processes of a user share.
 * Owns: what is read or made when; nothing before the first session. Refuses: a credential; to throw.
 */
import { type Clock, wallNow } from '../../../clock.js';
import { createFingerprint, type Fingerprint } from '../../fingerprint.js';
import type { Ledger, LedgerEntry } from '../ledger.js';
import { claimDead, listDead } from './dead-files.js';
import { makeDirectory, readKey } from './directory.js';
import { keyOf, type StoredEntry } from './lines.js';
import { createOwnFile, type OwnFile } from './own-file.js';
import { type NamedOwner, type Owner, placeOf, thisProcess } from './owner.js';

export interface LedgerOptions {
  clock: Clock;
  directory: string;
  /** @default this process */
  owner?: Owner;
  /** Told once what goes wrong. @default a warning of the process, once for all ledgers */
  warn?(text: string): void;
}

export interface DiskLedger extends Ledger {
  /** What could be claimed by {@link claimWhere}; nothing is taken. */
  list(): LedgerEntry[];
  /** As `claim`, for every session that `wants` names. */
  claimWhere(wants: (entry: LedgerEntry) => boolean): LedgerEntry[];
}

export function createLedger({
  clock,
  directory,
  owner = thisProcess(),
  warn = warnOnce,
}: LedgerOptions): DiskLedger {
  const me: NamedOwner = { place: placeOf(owner), pid: owner.pid, start: owner.start };
  const asked = new Set<string>();
  let keyed: Fingerprint | undefined;
  let isTold = false;

  const onFault = (error: unknown): void => {
    if (isTold) return;
    isTold = true;
    const why = error instanceof Error ? error.message : String(error);
    warn(`the record of open MCP sessions in ${directory} is not as it should be: ${why}`);
  };
  const file: OwnFile = createOwnFile({ directory, owner, clock, onFault });
  const claimant = { directory, me, onFault };

  const claimWhere = (wants: (entry: StoredEntry) => boolean): LedgerEntry[] => {
    const claimed: StoredEntry[] = [];
    const adopt = (entries: StoredEntry[]): boolean => {
      const fresh = entries.filter((entry) => !file.has(keyOf(entry)));
      file.add(fresh);
      claimed.push(...fresh);
      return file.isWritten;
    };
    try {
      claimDead(claimant, wants, adopt);
    } catch (error) {
      onFault(error);
    }
    return claimed;
  };

  return {
    fingerprint(secret) {
      if (keyed === undefined) {
        try {
          makeDirectory(directory);
          keyed = createFingerprint(readKey(directory));
        } catch (error) {
          onFault(error);
          // Comparable with nothing: what cannot be written down is not claimed either.
          keyed = createFingerprint();
        }
      }
      return keyed(secret);
    },
    opened: (entry) => file.add([{ ...entry, at: wallNow() }]),
    settled: (url, id) => file.remove(url, id),
    claim(url, principal) {
      const asking = `${url} ${principal}`;
      if (asked.has(asking)) return [];
      asked.add(asking);
      return claimWhere((entry) => entry.url === url && entry.principal === principal);
    },
    release: () => file.release(),
    list: () => listDead(claimant),
    claimWhere,
  };
}

/** However many ledgers there are: a full disk is one piece of news. */
const WARNED = Symbol.for('mooring.ledger-warned.v1');

function warnOnce(text: string): void {
  const shared = globalThis as { [WARNED]?: true };
  if (shared[WARNED] === true) return;
  shared[WARNED] = true;
  process.emitWarning(`${text}. Sessions of a process that is killed may stay open at their servers.`, {
    code: 'MOORING_LEDGER',
  });
}
