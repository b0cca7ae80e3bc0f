// Compiles src/ to dist/ with tsc, and keeps only the declarations that an entry leads to: types of parts that
// nobody can import would only carry the types of our dependencies into the package.
// `--quiet` prints only what fails; `--clean` empties dist/ first.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reachableDeclarations } from './entries.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const started = performance.now();
if (process.argv.includes('--clean')) rmSync(dist, { recursive: true, force: true });
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) {
  console.error('build: tsc failed');
  process.exit(1);
}
const reachable = reachableDeclarations(root);
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  if (entry.name.endsWith('.d.ts') && !reachable.has(path)) rmSync(path, { force: true });
}
if (!process.argv.includes('--quiet'))
  console.log(`build: dist/ in ${Math.round(performance.now() - started)} ms`);
