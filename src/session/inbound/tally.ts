/**
 * A count for each principal, and their sum.
 * Refuses: to remember a principal with none, so that strangers who come and go cost nothing.
 */

export interface Tally {
  add(principal: string): void;
  remove(principal: string): void;
  of(principal: string): number;
  readonly total: number;
}

export function createTally(): Tally {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    add(principal) {
      total++;
      counts.set(principal, (counts.get(principal) ?? 0) + 1);
    },
    remove(principal) {
      const left = (counts.get(principal) ?? 0) - 1;
      total--;
      if (left > 0) counts.set(principal, left);
      else counts.delete(principal);
    },
    of: (principal) => counts.get(principal) ?? 0,
    get total() {
      return total;
    },
  };
}
