/** What an import of the library brings into a user's process: no command line, gateway, logs, metrics or SDK. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifies } from '../requirements.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Loaded {
  /** Names of packages other than ours. */
  packages: string[];
  /** Paths below dist/. */
  ours: string[];
}

/** Imports the entry, as built, in a process of its own; `also` is imported beside it. */
function load(entry: string, also = ''): Loaded {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-loaded-'));
  try {
    const record = join(folder, 'urls');
    const code = `await import('${entry}'); ${also}`;
    const args = ['--no-warnings', '--import', './test/architecture/record-loads.mjs', '--input-type=module'];
    const { status, stderr } = spawnSync(process.execPath, [...args, '--eval', code], {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, LOADED_MODULES: record, NODE_OPTIONS: '' },
    });
    assert.equal(status, 0, stderr);
    const packages = new Set<string>();
    const ours = new Set<string>();
    for (const url of readFileSync(record, 'utf8').split('\n')) {
      const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
      const path = /^(?!.*\/node_modules\/).*\/dist\/(.+)$/.exec(url)?.[1];
      if (name !== undefined) packages.add(name);
      else if (path !== undefined) ours.add(path);
    }
    return { packages: [...packages].sort(), ours: [...ours].sort() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('modules that an import loads', () => {
  for (const entry of ['mooring', 'mooring/client']) {
    it(`${entry}: the parts and packages of the library, nothing else`, () => {
      verifies('package/library-loads-no-more');
      const { ours, packages } = load(entry);
      assert.ok(
        ours.includes(entry === 'mooring' ? 'index.js' : 'client.js'),
        `dist/ was not seen: ${ours.join(', ')}`,
      );
      const allowed = /^(?:index|client|errors|clock|events)\.js$|^(?:client|session|protocol)\//;
      assert.deepEqual(
        ours.filter((path) => !allowed.test(path)),
        [],
      );
      const foreign = packages.filter((name) => !['eventsource-parser', 'undici', 'zod'].includes(name));
      assert.deepEqual(foreign, []);
    });
  }

  it('would show a package that is not the library’s, as ESM and as CommonJS', () => {
    const also =
      "await import('fast-check'); (await import('node:module')).createRequire('/')(process.cwd() + '/node_modules/signal-exit')";
    const { packages } = load('mooring/client', also);
    for (const name of ['fast-check', 'pure-rand', 'signal-exit'])
      assert.ok(packages.includes(name), packages.join(', '));
  });
});
