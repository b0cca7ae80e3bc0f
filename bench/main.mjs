// npm run bench: speed and memory of the ways in, each beside the bare library, in one run.
// Owns: the options, the table, the JSON with commit and versions. Sets no threshold: machines differ.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { closeMany } from './client/close.mjs';
import { memory } from './client/memory.mjs';
import { speed } from './client/speed.mjs';
import { startUp } from './client/start-up.mjs';

const SUITES = { 'start-up': startUp, speed, close: closeMany, memory };
const HELP = `npm run bench -- [SUITE...] [--seconds N] [--json] [--write FILE]

  SUITE          ${Object.keys(SUITES).join(', ')}; all of them where none is named
  --seconds N    how long each way is measured at each concurrency, 5 where nothing is said; below 5 everything is
                 smaller, to see that it works
  --json         JSON to stdout instead of tables
  --write FILE   JSON to a file as well
`;

let args;
try {
  args = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
      write: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
} catch (error) {
  fail(error.message);
}
const { values, positionals } = args;
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seconds = Number(values.seconds);
if (!(seconds > 0 && seconds <= 600)) fail(`--seconds ${values.seconds}: give a number up to 600`);
const unknown = positionals.find((name) => !Object.hasOwn(SUITES, name));
if (unknown !== undefined) fail(`there is no suite ${unknown}; there are: ${Object.keys(SUITES).join(', ')}`);

const ledger = mkdtempSync(join(tmpdir(), 'mooring-bench-'));
process.env.MOORING_LEDGER_DIR = ledger;
const options = {
  seconds,
  quick: seconds < 5,
  preload: fileURLToPath(new URL('../dist/client/register/preload.cjs', import.meta.url)),
  progress: (what) => process.stderr.write(`bench: ${what}\n`),
};
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const report = {
  date: new Date().toISOString().slice(0, 10),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() ?? '',
  mooring: version,
  node: process.version,
  cpus: cpus().length,
  seconds,
};
for (const name of positionals.length === 0 ? Object.keys(SUITES) : positionals) {
  report[name] = await SUITES[name](options);
}
rmSync(ledger, { recursive: true, force: true });
const text = `${JSON.stringify(report, null, 2)}\n`;
if (values.write !== undefined) writeFileSync(values.write, text);
if (values.json) process.stdout.write(text);
else {
  for (const [name, rows] of Object.entries(report)) {
    if (!Array.isArray(rows)) continue;
    console.log(`\n${name}`);
    console.table(rows);
  }
}
// A host of ours holds sessions of a server that has ended.
process.exit(0);

function fail(message) {
  process.stderr.write(`bench: ${message}\n\n${HELP}`);
  process.exit(2);
}
