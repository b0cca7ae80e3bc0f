// Packs the package and looks at the tarball as its users will: what is in it, whether its types resolve and
// compile without our own dependencies in sight, whether each entry loads. Then knip, on the repository.
// Every check runs; each that fails is named at the end. `--keep` leaves the temporary folder in place.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEntries, withoutComments } from './entries.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'mooring-package-'));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = readEntries(root);
const failed = [];
// `npm run --silent` would silence the npm that runs below it too, and with it the reason of a failure.
const env = { ...process.env, npm_config_loglevel: 'error' };

/** What a published declaration must not name: a user would need these packages to compile. */
const FOREIGN = /\bzod\b|\bundici\b|@modelcontextprotocol/;
/** Entries that are of use only beside another package; their types must compile without it. */
const PEERS = { 'mooring/otel': '@opentelemetry/api@1' };

/** The names that test/consumer/package.json gives to the compilers. */
const COMPILERS = ['ts54', 'ts59', 'ts7'];
/** With Node's types alone, and beside the DOM's as in projects that share code with a browser. */
const CONSUMER_CONFIGS = ['tsconfig.json', 'tsconfig.dom.json'];

check('pack', () => {
  run('npm', ['pack', '--pack-destination', temporary], { cwd: root });
  run('tar', ['-xzf', tarball(), '-C', temporary], { cwd: temporary });
});
if (failed.length > 0) finish();
const unpacked = join(temporary, 'package');

check('contents', () => {
  const named = manifest.files.filter((entry) => entry !== 'dist');
  const packed = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(unpacked, join(entry.parentPath ?? entry.path, entry.name)));
  const required = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', ...named];
  for (const { types, file } of entries) required.push(types.slice(2), file.slice(2));
  const missing = required.filter(
    (file) => !packed.some((path) => path === file || path.startsWith(`${file}/`)),
  );
  const surplus = packed.filter((path) => !required.includes(path) && !path.startsWith('dist/'));
  if (missing.length > 0) throw new Error(`not in the tarball: ${missing.join(', ')}`);
  if (surplus.length > 0) throw new Error(`in the tarball for no reason: ${surplus.join(', ')}`);
  return `${packed.length} files`;
});

check('declarations', () => {
  const declarations = readdirSync(join(unpacked, 'dist'), { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.d.ts'));
  for (const path of declarations) {
    const text = withoutComments(readFileSync(join(unpacked, 'dist', path), 'utf8'));
    const found = text.split('\n').find((line) => FOREIGN.test(line));
    if (found !== undefined)
      throw new Error(`dist/${path} names a package that users may not have: ${found.trim()}`);
  }
  return `${declarations.length} files`;
});

check('publint', () => run(bin('publint'), ['run', tarball(), '--strict'], { cwd: root }));

check('attw', () =>
  run(bin('attw'), [tarball(), '--profile', 'esm-only', '--no-emoji', '--no-color'], { cwd: root }),
);

const consumer = join(temporary, 'consumer');
check('consumer: install', () => {
  cpSync(join(root, 'test/consumer'), consumer, {
    recursive: true,
    filter: (path) => basename(path) !== 'node_modules',
  });
  const source = entries.map(({ name }, i) => `import * as entry${i} from '${name}';\n`).join('');
  const list = entries.map((_, i) => `entry${i}`).join(', ');
  mkdirSync(consumer, { recursive: true });
  writeFileSync(
    join(consumer, 'entries.ts'),
    `${source}export const entries: readonly object[] = [${list}];\n`,
  );
  run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--save-dev', tarball()], {
    cwd: consumer,
  });
  if (existsSync(join(consumer, 'node_modules/@modelcontextprotocol')))
    throw new Error('an SDK was installed with the package: the peer dependencies are not optional');
});

if (!failed.includes('consumer: install')) {
  for (const compiler of COMPILERS) {
    check(`consumer: ${compiler}`, () => {
      const tsc = join(consumer, 'node_modules', compiler, 'bin/tsc');
      for (const config of CONSUMER_CONFIGS) run(process.execPath, [tsc, '-p', config], { cwd: consumer });
      return run(process.execPath, [tsc, '--version'], { cwd: consumer }).trim();
    });
  }
  for (const { name } of entries) {
    const peer = PEERS[name];
    if (peer !== undefined) {
      check(`consumer: ${peer} for ${name}`, () =>
        run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', peer], { cwd: consumer }),
      );
    }
    // require() of a module refuses top-level await anywhere below it, which is the rule for our entries.
    check(`load ${name}`, () => {
      const both = `if (!process.features.require_module) throw new Error('needs Node 20.19 or later to look for top-level await');
        require(${JSON.stringify(name)}); import(${JSON.stringify(name)}).then((entry) => console.log(Object.keys(entry).join(', ')));`;
      const args = ['--no-warnings', '--input-type=commonjs', '--eval', both];
      return run(process.execPath, args, { cwd: consumer }).trim();
    });
  }
}

check('knip', () => run(bin('knip'), ['--no-progress'], { cwd: root }));

finish();

function check(name, body) {
  const started = performance.now();
  try {
    const detail = body();
    const note = typeof detail === 'string' && detail !== '' && !detail.includes('\n') ? `: ${detail}` : '';
    console.log(`ok    ${name}${note} (${Math.round(performance.now() - started)} ms)`);
  } catch (error) {
    failed.push(name);
    console.log(`FAIL  ${name}\n${error.message.replace(/^/gm, '      ')}`);
  }
}

/** Returns what the command printed; throws it when the command fails. */
function run(command, args, options) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env, ...options });
  if (error !== undefined) throw new Error(`${command}: ${error.message}. Run npm ci first.`);
  if (status !== 0)
    throw new Error(`${basename(command)} ${args.join(' ')} exited with ${status}\n${stdout}${stderr}`);
  return stdout;
}

function bin(name) {
  return join(root, 'node_modules/.bin', name);
}

function tarball() {
  return join(temporary, `${manifest.name}-${manifest.version}.tgz`);
}

function finish() {
  if (process.argv.includes('--keep')) console.log(`kept: ${temporary}`);
  else rmSync(temporary, { recursive: true, force: true });
  console.log(failed.length === 0 ? 'package: all checks passed' : `package: failed: ${failed.join('; ')}`);
  process.exit(failed.length === 0 ? 0 : 1);
}
