// Runs a command on another major version of Node, which npm fetches once and keeps in its npx cache.
//
//   node scripts/node-versions.mjs 24 node scripts/test.mjs
//   node scripts/node-versions.mjs 22 npm run test:interop
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';

const [version = '', command, ...args] = process.argv.slice(2);
if (!/^\d+(\.\d+)*$/.test(version) || command === undefined) {
  console.error('usage: node scripts/node-versions.mjs VERSION COMMAND [ARGUMENT...]');
  process.exit(2);
}

const fetchArgs = ['-y', '-p', `node@${version}`, 'node', '-p', 'process.execPath'];
const fetched = spawnSync('npx', fetchArgs, {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
const binary = fetched.stdout?.trim().split('\n').at(-1) ?? '';
if (fetched.status !== 0 || binary === '') {
  console.error(`node-versions: no Node ${version}. Get it with: npx ${fetchArgs.slice(0, 4).join(' ')} -v`);
  process.exit(1);
}

// On PATH, so that npm, and whatever a test starts by the name `node`, runs on it too.
const env = { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env.PATH ?? ''}` };
const found = spawnSync(binary, ['-v'], { encoding: 'utf8' }).stdout.trim();
if (!found.startsWith(`v${version}`)) {
  console.error(`node-versions: asked for ${version}, npm gave ${found}`);
  process.exit(1);
}
console.error(`node-versions: ${found}`);
const { status, error } = spawnSync(command === 'node' ? binary : command, args, { env, stdio: 'inherit' });
if (error) console.error(`node-versions: ${error.message}`);
process.exit(status ?? 1);
