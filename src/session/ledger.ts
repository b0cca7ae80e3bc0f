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
  settled(id: string): void;
}

export const noLedger: Ledger = { opened() {}, settled() {} };

/** Every id of this process that some DELETE still has to end, beside the ledger on disk. */
export interface Owed<T> {
  add(id: string, target: T): void;
  settle(id: string): void;
  targets(): Array<{ id: string; target: T }>;
  readonly size: number;
}

export function createOwed<T>(onEmpty: () => void): Owed<T> {
  const open = new Map<string, T>();
  return {
    add: (id, target) => open.set(id, target),
    settle(id) {
      if (open.delete(id) && open.size === 0) onEmpty();
    },
    targets: () => [...open].map(([id, target]) => ({ id, target })),
    get size() {
      return open.size;
    },
  };
}
