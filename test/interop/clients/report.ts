/**
 * What a measurement of all libraries is, as docs/clients.json holds it, and the page that it makes.
 * Owns: the words of docs/clients.md. Refuses: a figure that is not in the report.
 */
import { markdownTable } from '../markdown-table.js';
import type { Way } from './libraries.js';
import type { Cell, Row } from './rows/row.js';

export interface Report {
  /** When it was measured, YYYY-MM-DD. */
  date: string;
  node: string;
  /** Of this package. */
  mooring: string;
  rows: Pick<Row, 'id' | 'title' | 'wanted'>[];
  libraries: {
    package: string;
    version: string;
    /** Cells by way, and by the row's id. */
    ways: Partial<Record<Way, Record<string, Cell>>>;
  }[];
}

const HEADINGS: Record<Way, string> = {
  bare: 'alone',
  createFetch: '`createFetch`',
  register: '`mooring run`',
};
const WAYS = Object.keys(HEADINGS) as Way[];

export function renderReport(report: Report): string {
  const { date, node, mooring, rows, libraries } = report;
  const summary = libraries.map(({ package: name, version, ways }) => [
    name,
    version,
    ...WAYS.map((way) => {
      const cells = ways[way];
      if (cells === undefined) return 'takes no `fetch`';
      return `${rows.filter(({ id }) => cells[id]?.good === true).length} of ${rows.length}`;
    }),
  ]);
  const sections = libraries.map(({ package: name, version, ways }) => {
    const measured = WAYS.filter((way) => ways[way] !== undefined);
    const lines = rows.map(({ id, title, wanted }) => [
      title,
      wanted,
      ...measured.map((way) => textOf(ways[way]?.[id])),
    ]);
    const head = ['what happens', 'wanted', ...measured.map((way) => HEADINGS[way])];
    return `## ${name} ${version}\n\n${markdownTable(head, lines)}`;
  });
  return [
    '# Client libraries',
    `What a server sees of five MCP client libraries, alone and with Mooring. Measured on ${date} with Node ${node} and Mooring ${mooring} by \`npm run table:clients\`, which writes this page: none of it is edited by hand.`,
    'Each cell is a client and a server of its own on loopback; sessions, requests and tool runs are counted at the server. `createFetch` is the one line of [recipes/](../recipes/README.md) and nothing more; `mooring run` is the same program, unchanged, with the preload. A ✗ marks what is not as wanted.',
    markdownTable(['cells as wanted', 'version', ...WAYS.map((way) => HEADINGS[way])], summary),
    ...sections,
    '## Notes',
    [
      '- @ai-sdk/mcp hands out a client only once it is open, so it cannot be closed before: that row closes it right then.',
      '- A library that sends no DELETE is noticed by its letting go of the stream: 2 s later its session is ended.',
      '- The time of a `close()` is the shortest of up to three; after 8 s nobody waited any longer.',
      '- Idle: the session itself stays, for `idleMs` (10 min); what it holds at the server is gone.',
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return 'not measured';
  return cell.good ? cell.text : `✗ ${cell.text}`;
}
