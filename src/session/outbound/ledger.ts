/**
 * The seam for what outlives a process: who is told of every session that must be ended, and who hands out those
 * that a killed process left behind. ledger/ implements it on disk; without one, `noLedger` is used.
 */
import type { Fingerprint } from '../fingerprint.js';

/** One session that some DELETE still has to end. */
export interface LedgerEntry {
  url: string;
  /** The id in full; whoever stores it keeps it owner-only. */
  id: string;
  /** Whose credentials it was opened with: the ledger's own {@link Ledger.fingerprint} of them. */
  principal: string;
}

export interface Ledger {
  /** Comparable between processes that share the ledger, and nowhere else. */
  fingerprint: Fingerprint;
  /** The server issued this id. */
  opened(entry: LedgerEntry): void;
  /** A DELETE was confirmed, or the server answered 404: nothing to end any more. */
  settled(url: string, id: string): void;
  /**
   * Sessions of dead processes with this server and principal; from now on they are this ledger's until they are
   * settled. The second call for the same two finds nothing.
   */
  claim(url: string, principal: string): LedgerEntry[];
  /** Nobody here tries any more: what is not settled is for whoever comes next. */
  release(): void;
}

export const noLedger: Ledger = {
  fingerprint: () => '',
  opened() {},
  settled() {},
  claim: () => [],
  release() {},
};
