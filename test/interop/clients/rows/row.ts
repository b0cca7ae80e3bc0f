/**
 * What a row of the table is: one thing that is done with a client, and what is seen of it.
 */
import type { ClientHost } from '../client-host.js';

/** What was measured, once. */
export interface Cell {
  /** As the table shows it. */
  text: string;
  /** Whether it is what the row wants. */
  good: boolean;
}

export interface Row {
  readonly id: string;
  /** What is done. */
  readonly title: string;
  /** The cell that is wanted, in words. */
  readonly wanted: string;
  /** Ends the process that it is measured in, so that no other row can share it. @default false */
  readonly endsProcess?: boolean;
  measure(host: ClientHost): Promise<Cell>;
}

export function plural(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
