/**
 * What a part of `npm run test:interop` may need, beside the tools of a machine: `{ what, isCurrent(), run() }`.
 * Owns: how to bring it up, and how to see that it is there already. `run` throws, with the line to repeat.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Nothing of theirs is built or run while it is installed; what is optional are native add-ons and the like. */
const FLAGS = ['--ignore-scripts', '--omit=optional', '--engine-strict=false', '--no-audit', '--no-fund'];

/** The packages of a folder, from its lock. */
export function npmCi(folder) {
  const args = ['ci', '--prefix', folder, ...FLAGS];
  return {
    what: folder,
    isCurrent: () => holdsWhatItsLockSays(join(root, folder)),
    run() {
      const { status } = spawnSync('npm', [...args, '--loglevel=error'], {
        cwd: root,
        stdio: ['ignore', 2, 2],
      });
      if (status !== 0) throw new Error(`${folder} is not installed. Get it with: npm ${args.join(' ')}`);
    },
  };
}

/**
 * This package, where Node and npm look for it from a folder below. It is no dependency there: a lock that names
 * it would have to be renewed whenever ours is.
 */
export function ownPackage(folder) {
  const modules = join(root, folder, 'node_modules');
  const link = join(modules, 'mooring');
  const binary = join(modules, '.bin/mooring');
  return {
    what: 'mooring itself',
    isCurrent: () => existsSync(binary) && existsSync(link) && realpathSync(link) === realpathSync(root),
    run() {
      mkdirSync(join(modules, '.bin'), { recursive: true });
      rmSync(link, { force: true });
      symlinkSync('../..', link);
      writeFileSync(binary, "#!/usr/bin/env node\nimport('../mooring/dist/cli/main.js');\n", { mode: 0o755 });
    },
  };
}

/** A program of Go, with the versions of one of its go.mod files. Go itself sees whether it is current. */
export function goBuild(folder, modfile, out) {
  const args = ['build', '-C', folder, `-modfile=${modfile}`, '-o', out, '.'];
  return {
    what: `${folder} (${modfile})`,
    isCurrent: () => false,
    run() {
      const { status } = spawnSync('go', args, { cwd: root, stdio: ['ignore', 2, 2] });
      if (status !== 0)
        throw new Error(`${folder} was not built (Go 1.25 or later). Try: go ${args.join(' ')}`);
    },
  };
}

/** A virtual environment of Python with what a file of requirements pins. */
export function pythonVenv(folder, requirements, out) {
  const venv = join(root, folder, out);
  const stamp = join(venv, 'requirements.txt');
  const wanted = () => readFileSync(join(root, folder, requirements), 'utf8');
  return {
    what: `${folder} (${requirements})`,
    isCurrent: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted(),
    run() {
      rmSync(venv, { recursive: true, force: true });
      const steps = [
        ['python3', ['-m', 'venv', venv]],
        [
          join(venv, 'bin/pip'),
          ['install', '--quiet', '--disable-pip-version-check', '-r', join(root, folder, requirements)],
        ],
      ];
      for (const [command, args] of steps) {
        const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
        if (status === 0) continue;
        throw new Error(
          `${folder} has no environment. Needs venv and PyPI: apt-get install -y python3-venv; python3 -m pip download mcp`,
        );
      }
      // Last, so that one which was interrupted is made again.
      writeFileSync(stamp, wanted());
    },
  };
}

/** Packages of Debian, where this is Debian and we are root; else whoever runs it is told the line. */
export function debian(packages, binaries) {
  const line = `apt-get install -y ${packages.join(' ')}`;
  return {
    what: packages.join(', '),
    isCurrent: () => binaries.every((binary) => readdirSync('/usr/sbin').some((name) => binary.test(name))),
    run() {
      const isRoot = process.getuid?.() === 0;
      const steps = [
        ['update', '-qq'],
        ['install', '-y', '-qq', '--no-install-recommends', ...packages],
      ];
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      const isDone =
        isRoot &&
        steps.every((args) => spawnSync('apt-get', args, { env, stdio: ['ignore', 2, 2] }).status === 0);
      if (!isDone) throw new Error(`${packages.join(' and ')} are missing. Get them, as root, with: ${line}`);
    },
  };
}

/** npm writes down what it installed, and does so last. */
function holdsWhatItsLockSays(folder) {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((name) => {
    const path = join(folder, name);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {};
  });
  const needed = Object.entries(wanted).filter(([path, { optional }]) => path !== '' && !optional);
  return (
    needed.every(([path, { integrity }]) => installed[path]?.integrity === integrity) &&
    Object.keys(installed).every((path) => path in wanted)
  );
}
