/**
 * What a measurement of all agents is, as docs/agents.json holds it, and the page that it makes.
 * Owns: the words of docs/agents.md. Refuses: a figure that is not in the report.
 */
import { markdownTable } from '../markdown-table.js';
import type { Way } from './rows.js';

export interface Cell {
  /** As a shell tells it. */
  exit: number;
  /** From the signal to the end of the agent's last process; of the rows with a signal. */
  tookMs?: number;
  /** DELETEs, those answered with 2xx, and sessions at the server afterwards. */
  deletes: number;
  ended: number;
  live: number;
  /** How often the tool of the second call ran; of the rows with two calls. */
  second?: number;
}

export interface AgentReport {
  /** When it was measured, YYYY-MM-DD. */
  date: string;
  /** Of this package. */
  mooring: string;
  rows: { id: string; title: string }[];
  agents: {
    package: string;
    version: string;
    node: string;
    /** Cells by way, and by the row's id. */
    ways: Record<Way, Record<string, Cell>>;
  }[];
}

export function renderReport({ date, mooring, rows, agents }: AgentReport): string {
  const sections = agents.map(({ package: name, version, node, ways }) => {
    const lines = rows.map(({ id, title }) => [title, textOf(ways.bare[id]), textOf(ways.run[id])]);
    return `## ${name} ${version}\n\nOn Node ${node}.\n\n${markdownTable(['what happens', 'alone', '`mooring run --`'], lines)}`;
  });
  return `${[
    '# Agents',
    `What a server sees of two agents, headless and as they are installed, alone and with \`mooring run --\` in front of the command. Measured on ${date} with Mooring ${mooring} by \`npm run table:agents\`, which writes this page: none of it is edited by hand.`,
    'A scripted model on loopback tells the agent which tools to call; the MCP server is the official SDK’s, and counts. Signals go to all processes of the command, as a terminal sends them, while the model is thinking. `left` are sessions at the server after the last process has ended. A DELETE that the server refused, since it had forgotten the session, is told apart.',
    ...sections,
    '## Notes',
    [
      '- Times are from the signal to the end of the last process.',
      '- SIGKILL: what is told is the second of two runs against one server, with one ledger.',
      '- Qwen Code sends its MCP by a copy of undici of its own; see [register.md](register.md#which-requests-it-sees).',
    ].join('\n'),
  ].join('\n\n')}\n`;
}

function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return 'not measured';
  const { exit, tookMs, deletes, ended, live, second } = cell;
  return [
    ...(second === undefined
      ? []
      : [second === 0 ? 'second call fails' : `second call runs ${times(second)}`]),
    `${ended} DELETE${deletes > ended ? ` (and ${deletes - ended} refused)` : ''}`,
    `${live} left`,
    `exit ${exit}`,
    ...(tookMs === undefined ? [] : [`${(tookMs / 1_000).toFixed(1)} s`]),
  ].join(', ');
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
