// Measures the agents and writes docs/agents.json and docs/agents.md. Two minutes.
// Owns: what has to be there first (the build, the agents' packages).
//
//   npm run table:agents
//   npm run table:agents -- --json    prints the JSON, and writes nothing
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PARTS } from '../test/interop/parts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const USAGE = 'usage: npm run table:agents -- [--json]';
if (args.includes('--help') || args.includes('-h')) {
  console.log(
    `${USAGE}\n\nMeasures the agents of test/interop/agents, and writes docs/agents.json and docs/agents.md.`,
  );
  console.log('  --json    prints the JSON on stdout, and writes nothing');
  process.exit(0);
}
if (args.some((arg) => arg !== '--json')) {
  console.error(USAGE);
  process.exit(2);
}

const { installs } = PARTS.find(({ name }) => name === 'agents');
try {
  for (const install of installs.filter(({ isCurrent }) => !isCurrent())) install.run();
} catch (error) {
  console.error(`table: ${error.message}`);
  process.exit(1);
}
const build = spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], { cwd: root, stdio: 'inherit' });
if (build.status !== 0) process.exit(1);
// An agent that wants a newer Node gets it there; Mooring's own stays this one, as on a user's machine.
const command = ['--import', 'tsx', 'test/interop/agents/table.ts', ...args];
const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
