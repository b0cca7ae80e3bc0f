import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Columns } from '../../demo/report.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

function runDemo(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'demo/main.ts', ...args], { cwd: ROOT });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

// Each run lives two days of some 8 s; most of that is waiting, so they run side by side.
describe('the demo', { concurrency: true }, () => {
  for (const sdk of ['1', '2']) {
    it(`shows what Mooring promises on SDK v${sdk}`, async () => {
      const { code, stdout, stderr } = await runDemo('--json', '--sdk', sdk);
      const { before, after } = JSON.parse(stdout) as Columns;
      assert.equal(code, 0, stderr);
      assert.equal(before.deletes, 0, 'the bare SDK sends no DELETE');
      assert.ok(before.ghosts > 0 && before.liveAtEnd > 0 && before.failedCalls > 0, stdout);
      assert.equal(after.ghosts + after.liveAtEnd + after.failedCalls, 0);
      assert.equal(after.deletes, after.sessionsOpened - 1, 'the server itself ended one');
      assert.ok(after.sessionsOpened < before.sessionsOpened);
    });
  }

  it('exits with 1 when no DELETE reaches the server', async () => {
    const { code, stderr } = await runDemo('--break', 'no-delete');
    assert.equal(code, 1, stderr);
    assert.match(stderr, /sessions were live when the host was gone/);
  });

  it('exits with 1 when a refused session is not re-opened', async () => {
    const { code, stderr } = await runDemo('--break', 'no-404');
    assert.equal(code, 1, stderr);
    assert.match(stderr, /calls failed/);
  });

  it('exits with 2 for a wrong flag, with 0 for --help', async () => {
    assert.equal((await runDemo('--frobnicate')).code, 2);
    const help = await runDemo('--help');
    assert.equal(help.code, 0);
    assert.match(help.stdout, /npm run -s demo -- --json/);
    for (const line of help.stdout.split('\n')) assert.ok(line.length <= 80, line);
  });
});
