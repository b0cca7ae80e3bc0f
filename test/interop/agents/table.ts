/**
 * Measures every agent in every row, and writes docs/agents.json and the page that it makes.
 * scripts/table-agents.mjs installs what this needs, and starts it. `--json` prints the report and writes nothing.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { geminiCli, nodeFor, qwenCode } from './agents.js';
import type { Agent } from './agents.js';
import type { AgentRun } from './drive.js';
import { renderReport } from './report.js';
import type { AgentReport, Cell } from './report.js';
import { exitCode, measureBoth, ROWS } from './rows.js';
import type { Way } from './rows.js';

const ROOT = new URL('../../../', import.meta.url);
const rows = Object.values(ROWS);

function cellOf(id: string, run: AgentRun): Cell {
  const { tookMs, deletes, ended, live, runs } = run;
  return {
    exit: exitCode(run),
    ...(['sigint', 'sigterm', 'sighup'].includes(id) ? { tookMs } : {}),
    deletes,
    ended,
    live,
    ...(['end', 'restart', 'expire'].includes(id) ? { second: runs.two ?? 0 } : {}),
  };
}

async function measure(agent: Agent): Promise<AgentReport['agents'][number]> {
  const ways: Record<Way, Record<string, Cell>> = { bare: {}, run: {} };
  // One row after the other: more agents at once would measure the machine.
  for (const row of rows) {
    const { bare, run } = await measureBoth(agent, row);
    for (const { modelFaults } of [bare, run]) {
      if (modelFaults.length > 0) throw new Error(`${agent.name}, ${row.title}: ${modelFaults.join('; ')}`);
    }
    ways.bare[row.id] = cellOf(row.id, bare);
    ways.run[row.id] = cellOf(row.id, run);
    console.error(`table: ${agent.name}, ${row.title}`);
  }
  const manifest = readFileSync(new URL(`${agent.name}/package.json`, import.meta.url), 'utf8');
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
  const [[name, version] = ['', '']] = Object.entries(dependencies);
  const node = spawnSync(nodeFor(agent), ['-v'], { encoding: 'utf8' }).stdout.trim().slice(1);
  return { package: name, version, node, ways };
}

const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
const report: AgentReport = {
  date: new Date().toISOString().slice(0, 10),
  mooring: version,
  rows: rows.map(({ id, title }) => ({ id, title })),
  agents: [await measure(geminiCli), await measure(qwenCode)],
};
const json = `${JSON.stringify(report, null, 2)}\n`;
if (process.argv.includes('--json')) process.stdout.write(json);
else {
  writeFileSync(new URL('docs/agents.json', ROOT), json);
  writeFileSync(new URL('docs/agents.md', ROOT), renderReport(report));
}
