/**
 * The text of a ledger file: a head, then one JSON value a line: a session that was opened, or one that is settled.
 * Owns: reading what is there of it, however it was cut.
 * Refuses: I/O; to throw on garbage.
 */
import { isSessionId } from '../../../protocol/headers.js';
import type { LedgerEntry } from '../ledger.js';
import type { Owner } from './owner.js';

export interface StoredEntry extends LedgerEntry {
  /** When it was opened, ms since 1970. */
  at: number;
}

export interface Contents {
  /** Not settled, in the order of opening. */
  entries: StoredEntry[];
  /** Lines that mean nothing; a last line that was cut by the end of its process does not count. */
  garbage: number;
}

/** After this long nobody tries any more, ms. */
export const GIVEN_UP_MS = 7 * 24 * 60 * 60_000;

export function keyOf({ url, id }: { url: string; id: string }): string {
  return `${url} ${id}`;
}

/** For people; what counts is the file's name. */
export function headLine(owner: Owner): string {
  return `${JSON.stringify({ mooring: 'ledger', version: 1, ...owner })}\n`;
}

export function openedLine({ url, id, principal, at }: StoredEntry): string {
  return `${JSON.stringify({ opened: { url, id, principal, at } })}\n`;
}

export function settledLine(url: string, id: string): string {
  return `${JSON.stringify({ settled: { url, id } })}\n`;
}

export function readLines(text: string): Contents {
  const open = new Map<string, StoredEntry>();
  let garbage = 0;
  const lines = text.split('\n');
  lines.forEach((line, at) => {
    if (line === '') return;
    const value = parse(line);
    if (isHead(value)) return;
    if (isEntry(value?.opened)) {
      const { url, id, principal, at: openedAt } = value.opened;
      open.set(keyOf({ url, id }), { url, id, principal, at: openedAt });
    } else if (isSession(value?.settled)) open.delete(keyOf(value.settled));
    else if (at < lines.length - 1) garbage += 1;
  });
  return { entries: [...open.values()], garbage };
}

interface Line {
  mooring?: unknown;
  opened?: unknown;
  settled?: unknown;
}

function parse(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const isHead = (value: Line | undefined): boolean => value?.mooring === 'ledger';

function isSession(value: unknown): value is { url: string; id: string } {
  if (typeof value !== 'object' || value === null) return false;
  const { url, id } = value as Record<string, unknown>;
  return typeof url === 'string' && isHttp(url) && typeof id === 'string' && isSessionId(id);
}

function isEntry(value: unknown): value is StoredEntry {
  const { principal, at } = (value ?? {}) as Record<string, unknown>;
  return isSession(value) && typeof principal === 'string' && typeof at === 'number' && Number.isFinite(at);
}

function isHttp(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === 'http:' || protocol === 'https:';
}
