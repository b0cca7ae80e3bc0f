/**
 * The seam for what outlives a process: who is told of every session that must be ended.
 * The ledger on disk implements it; without one, `noLedger` is used.
 */

/** One session that some DELETE still has to end. */
export interface LedgerEntry {
  url: string;
  /** The id in full; whoever stores it keeps it owner-only. */
  id: string;
  /** Fingerprint of whose credentials it was opened with. */
  principal: string;
}

export interface Ledger {
  /** The server issued this id. */
  opened(entry: LedgerEntry): void;
  /** A DELETE was confirmed, or the server answered 404: nothing to end any more. */
  settled(url: string, id: string): void;
}

export const noLedger: Ledger = { opened() {}, settled() {} };
