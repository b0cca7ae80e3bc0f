/** The frame of the command line, as it is installed: help, version, exit codes, streams. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifies } from '../requirements.js';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

function mooring(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: 20_000 });
}

describe('mooring', () => {
  it('--version is the version of the package, on stdout', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    assert.deepEqual(mooring('--version').stdout, `${version}\n`);
  });

  it('--help goes to stdout with 0, without colours where nobody looks', () => {
    const { status, stdout, stderr } = mooring('--help');
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.match(stdout, /COMMANDS|USAGE/);
    assert.doesNotMatch(stdout, /\u001b/u);
  });

  for (const args of [[], ['no-such-command'], ['toString']]) {
    it(`${args.join(' ') || 'nothing'} is a fault of usage: 2, and stdout stays empty`, () => {
      verifies('cli/usage-is-2');
      const { status, stdout, stderr } = mooring(...args);
      assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
      assert.match(stderr, /mooring/);
    });
  }
});
