// Runs what Mooring is tried against that others wrote: client libraries, agents. Each part says what it needs
// (test/interop/parts.mjs); what is missing makes it fail, by name, with the line that installs it. No part is
// ever left out unasked, and one that fails stops no other.
//
//   npm run test:interop                      every part
//   npm run test:interop -- clients agents    only these
//   npm run test:interop -- --help            what there is
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PARTS } from '../test/interop/parts.mjs';
import { onNode } from './on-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Real libraries wait for real timers, more than they compute. */
const CONCURRENCY = 3;
/** For one file or test. */
const TIMEOUT_MS = 180_000;

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) {
  console.log('usage: npm run test:interop -- [PART...]\n');
  for (const { name, about } of PARTS) console.log(`  ${name.padEnd(10)} ${about}`);
  process.exit(0);
}
const unknown = args.filter((arg) => !PARTS.some(({ name }) => name === arg));
if (unknown.length > 0) {
  console.error(
    `interop: no part ${unknown.join(', ')}; there are ${PARTS.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

const build = spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], { cwd: root, stdio: 'inherit' });
if (build.status !== 0) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'mooring-interop-'));
const rows = [];
for (const part of PARTS.filter(({ name }) => args.length === 0 || args.includes(name))) {
  console.log(`\n=== ${part.name}: ${part.about}`);
  const started = performance.now();
  const fault = run(part);
  const took = `${((performance.now() - started) / 1_000).toFixed(1)} s`;
  console.log(`=== ${part.name}: ${fault ?? 'ok'}, ${took}`);
  rows.push({ name: part.name, took, fault });
}
rmSync(folder, { recursive: true, force: true });

console.log(`\n${'part'.padEnd(10)} ${'time'.padStart(8)}  result`);
for (const { name, took, fault } of rows) {
  console.log(`${name.padEnd(10)} ${took.padStart(8)}  ${fault === undefined ? 'ok' : `FAILED: ${fault}`}`);
}
process.exit(rows.every(({ fault }) => fault === undefined) ? 0 : 1);

/** What went wrong with a part, or undefined. */
function run({ tools, installs, tests, node }) {
  const missing = tools.find(({ command }) => !isOnPath(command));
  if (missing !== undefined) return `${missing.command} is missing. Get it with: ${missing.get}`;
  try {
    for (const install of installs.filter(({ isCurrent }) => !isCurrent())) {
      console.log(`interop: installing ${install.what}`);
      install.run();
    }
  } catch (error) {
    return error.message;
  }
  const files = existsSync(join(root, tests))
    ? readdirSync(join(root, tests)).filter((file) => file.endsWith('.test.ts'))
    : [];
  if (files.length === 0) return `no test in ${tests}`;
  const command = [
    ...['--import', 'tsx', '--import', './scripts/own-ledger.mjs'],
    ...[
      '--test',
      `--test-concurrency=${CONCURRENCY}`,
      `--test-timeout=${TIMEOUT_MS}`,
      '--test-reporter=spec',
    ],
    ...files.map((file) => `${tests}/${file}`),
  ];
  const { status } = spawnSync(process.execPath, onNode(node, command), {
    cwd: root,
    stdio: 'inherit',
    // What they drive must not write into the state of whoever runs them.
    env: { ...process.env, MOORING_LEDGER_DIR: join(folder, 'ledger') },
  });
  return status === 0 ? undefined : `node --test exited with ${status}`;
}

function isOnPath(command) {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
