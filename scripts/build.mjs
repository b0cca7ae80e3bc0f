// Compiles src/ to dist/ with tsc. `--quiet` prints only what fails; `--clean` empties dist/ first.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const started = performance.now();
if (process.argv.includes('--clean'))
  rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) {
  console.error('build: tsc failed');
  process.exit(1);
}
if (!process.argv.includes('--quiet'))
  console.log(`build: dist/ in ${Math.round(performance.now() - started)} ms`);
