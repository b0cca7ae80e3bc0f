// Measures the client libraries and writes docs/clients.json and docs/clients.md. Two to three minutes.
// Owns: what has to be there first (the build, the recipes' packages, a Node that is new enough).
//
//   npm run table:clients
//   npm run table:clients -- --json    prints the JSON, and writes nothing
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PARTS } from '../test/interop/parts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const USAGE = 'usage: npm run table:clients -- [--json]';
if (args.includes('--help') || args.includes('-h')) {
  console.log(
    `${USAGE}\n\nMeasures the client libraries of recipes/, and writes docs/clients.json and docs/clients.md.`,
  );
  console.log('  --json    prints the JSON on stdout, and writes nothing');
  process.exit(0);
}
if (args.some((arg) => arg !== '--json')) {
  console.error(USAGE);
  process.exit(2);
}

const { installs, node } = PARTS.find(({ name }) => name === 'clients');
try {
  for (const install of installs.filter(({ isCurrent }) => !isCurrent())) install.run();
} catch (error) {
  console.error(`table: ${error.message}`);
  process.exit(1);
}
const build = spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], { cwd: root, stdio: 'inherit' });
if (build.status !== 0) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'mooring-table-'));
const command = ['--import', 'tsx', 'test/interop/clients/table.ts', ...args];
const isNewEnough = Number(process.versions.node.split('.')[0]) >= node;
const { status } = spawnSync(
  process.execPath,
  isNewEnough ? command : ['scripts/node-versions.mjs', String(node), 'node', ...command],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, MOORING_LEDGER_DIR: folder },
  },
);
rmSync(folder, { recursive: true, force: true });
process.exit(status ?? 1);
