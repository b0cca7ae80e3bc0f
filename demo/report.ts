/**
 * The table of the first report, before and after, and what is wrong with the second column. Pure.
 */
import type { Tally } from './tally.js';

export interface Columns {
  before: Tally;
  after: Tally;
}

/** What the server and the parent saw beside the log's figures. */
export interface DayFacts {
  /** Sessions that the server ended by itself; no DELETE is due for them. */
  expiredByServer: number;
  /** How the host ended: its signal, or what happened instead. */
  hostEnd: string;
}

const ROWS: readonly (readonly [keyof Tally, string])[] = [
  ['sessionsOpened', 'sessions opened'],
  ['sessionsOnGet', 'distinct ids on GET'],
  ['sessionsThatPosted', 'ids that POSTed after their first minute'],
  ['ghosts', 'ghosts (no POST after it, still there)'],
  ['deletes', 'DELETEs'],
  ['peakSockets', 'peak sockets'],
  ['liveAtEnd', 'sessions live at the end'],
  ['failedCalls', 'failed calls'],
];

/** Rows that should be 0 with Mooring. */
const ZERO: readonly (keyof Tally)[] = ['ghosts', 'liveAtEnd', 'failedCalls'];

const LABEL = 42;
const COLUMN = 15;

/** The table, at most 80 columns wide, with a newline at its end. */
export function renderTable({ before, after }: Columns, color: boolean): string {
  const paint = (code: number, text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const line = (label: string, left: string, right: string): string =>
    `  ${label.padEnd(LABEL)}${left.padStart(COLUMN)}${right}`;
  const cell = (row: keyof Tally, value: number): string => {
    const text = String(value).padStart(COLUMN);
    return ZERO.includes(row) ? paint(value === 0 ? 32 : 31, text) : text;
  };
  return [
    paint(1, line('', 'SDK alone', 'with Mooring'.padStart(COLUMN))),
    `  ${'-'.repeat(LABEL + 2 * COLUMN)}`,
    ...ROWS.map(([row, label]) => line(label, String(before[row]), cell(row, after[row]))),
    '',
  ].join('\n');
}

/** What Mooring's column promises and does not show; empty when all is well. */
export function findProblems(after: Tally, { expiredByServer, hostEnd }: DayFacts): string[] {
  const problems: string[] = [];
  const due = after.sessionsOpened - expiredByServer;
  if (after.sessionsOpened === 0) problems.push('no session was opened');
  if (after.ghosts > 0) problems.push(`${after.ghosts} ghosts`);
  if (after.liveAtEnd > 0) problems.push(`${after.liveAtEnd} sessions were live when the host was gone`);
  if (after.failedCalls > 0) problems.push(`${after.failedCalls} calls failed`);
  if (after.deletes !== due) problems.push(`${after.deletes} DELETEs ended sessions, ${due} were due`);
  if (hostEnd !== 'SIGTERM') problems.push(`the host did not end by SIGTERM but: ${hostEnd}`);
  return problems;
}
