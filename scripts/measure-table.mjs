// What the measured pages of docs/ have in common: their options, and what has to be there first (the build, the
// packages of a part of test:interop, a ledger of their own). The part's table.ts measures and writes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PARTS } from '../test/interop/parts.mjs';
import { onNode } from './on-node.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** `part`: its name in parts.mjs, and in `npm run table:PART`; `node`: the least major version of Node. Ends the process. */
export function measureTable({ part, about, node }) {
  const args = process.argv.slice(2);
  const usage = `usage: npm run table:${part} -- [--json]`;
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`${usage}\n\nMeasures ${about}, and writes docs/${part}.json and docs/${part}.md.`);
    console.log('  --json    prints the JSON on stdout, and writes nothing');
    process.exit(0);
  }
  if (args.some((arg) => arg !== '--json')) {
    console.error(usage);
    process.exit(2);
  }
  try {
    const { installs } = PARTS.find(({ name }) => name === part);
    for (const install of installs.filter(({ isCurrent }) => !isCurrent())) install.run();
  } catch (error) {
    console.error(`table: ${error.message}`);
    process.exit(1);
  }
  const build = spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (build.status !== 0) process.exit(1);
  const folder = mkdtempSync(join(tmpdir(), 'mooring-table-'));
  const command = ['--import', 'tsx', `test/interop/${part}/table.ts`, ...args];
  const { status } = spawnSync(process.execPath, onNode(node, command), {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, MOORING_LEDGER_DIR: folder },
  });
  rmSync(folder, { recursive: true, force: true });
  process.exit(status ?? 1);
}
