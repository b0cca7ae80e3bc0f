// Runs the suite with node:test on the Node that runs this file.
// Owns: which files belong to the suite, how many run at once, and the proof that each of them ran.
// `node --test` of Node 20 expands no globs, and a file that it never started looks like one that passed; so
// the files are listed here, a second reporter writes down which were finished, and the two are compared.
//
//   node scripts/test.mjs                     the suite
//   node scripts/test.mjs session/ reopen     only files whose path contains one of these
//   node scripts/test.mjs --test-only         options go to node
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Folders with a command of their own, because they need more than Node. */
const ELSEWHERE = ['test/interop/', 'test/browser/'];

// The tests wait for sockets and child processes more than they compute: twice the cores of a small machine.
const CONCURRENCY = 4;
/** For one file or test. A last option of the same name wins. */
const TIMEOUT_MS = 180_000;

const args = process.argv.slice(2);
const options = args.filter((arg) => arg.startsWith('-'));
const filters = args.filter((arg) => !arg.startsWith('-'));

const onDisk = filesBelow('test')
  .filter((file) => file.endsWith('.test.ts') && !ELSEWHERE.some((folder) => file.startsWith(folder)))
  .sort();
const wanted =
  filters.length === 0 ? onDisk : onDisk.filter((file) => filters.some((filter) => file.includes(filter)));
if (wanted.length === 0) fail(`no test file matches ${filters.join(' ') || 'test/**/*.test.ts'}`);

if (isOutdated()) {
  const build = spawnSync(process.execPath, ['scripts/build.mjs', '--quiet'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (build.status !== 0) process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'mooring-test-'));
const record = join(folder, 'files');
const run = spawnSync(
  process.execPath,
  [
    ...['--import', 'tsx', '--import', './scripts/own-ledger.mjs'],
    ...['--test', `--test-concurrency=${CONCURRENCY}`, `--test-timeout=${TIMEOUT_MS}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/finished-files.mjs', `--test-reporter-destination=${record}`],
    ...options,
    ...wanted,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    // Hosts in the tests must not write into the state of whoever runs them.
    env: { ...process.env, MOORING_LEDGER_DIR: join(folder, 'ledger') },
  },
);
const seen = readRecord(record);
rmSync(folder, { recursive: true, force: true });

const missing = wanted.filter((file) => !seen.finished.has(file));
// With a name pattern it is no fault that nothing in a file matches.
const empty = options.some((option) => /name-pattern|skip-pattern|test-only/.test(option)) ? [] : seen.empty;
for (const file of missing) console.error(`test: ${file} is on disk and did not run to its end`);
for (const file of empty) console.error(`test: ${file} holds no test, or ended before its first`);
if (run.signal !== null) console.error(`test: node was ended by ${run.signal}`);
process.exit(run.status === 0 && missing.length === 0 && empty.length === 0 ? 0 : run.status || 1);

function filesBelow(directory) {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(root, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join('/'),
    );
}

/** Tests that import the package by its name get what is in dist/: never an older one than src/. */
function isOutdated() {
  const built = statSync(join(root, 'dist/index.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return filesBelow('src').some((file) => statSync(join(root, file)).mtimeMs > built);
}

function readRecord(path) {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Node ended before it opened its reporters: nothing ran, and all is reported as missing.
  }
  const finished = new Set();
  const empty = [];
  for (const line of text.split('\n').filter((entry) => entry !== '')) {
    const { file, tests } = JSON.parse(line);
    const name = relative(root, resolve(root, file)).split(sep).join('/');
    if (tests) finished.add(name);
    else empty.push(name);
  }
  for (const name of empty) finished.add(name);
  return { finished, empty };
}

function fail(message) {
  console.error(`test: ${message}`);
  process.exit(1);
}
