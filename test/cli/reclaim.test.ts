/** `mooring reclaim`, as it is installed, on the record of a process that was killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import { type FaultyServer, startFaultyServer } from '../support/faulty-server.js';

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface Scene {
  server: FaultyServer;
  dir: string;
  mooring(...args: string[]): Promise<Ran>;
  /** Leaves so many sessions behind. */
  leave(count: number, headers?: Record<string, string>): Promise<void>;
}

async function scene(t: TestContext): Promise<Scene> {
  const server = await startFaultyServer();
  const dir = mkdtempSync(join(tmpdir(), 'mooring-reclaim-'));
  const env = { MOORING_LEDGER_DIR: dir };
  t.after(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    server,
    dir,
    mooring(...args) {
      const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...env } });
      const ran: Ran = { code: null, stdout: '', stderr: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.stderr += text));
      return new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve({ ...ran, code }));
      });
    },
    async leave(count, headers = {}) {
      const args = [`${server.url}?key=hidden`, String(count), JSON.stringify(headers)];
      const host = spawnHost('holds-many.mjs', { args, env });
      await host.event('open', 20_000);
      await host.stop();
    },
  };
}

describe('mooring reclaim', { concurrency: 2 }, () => {
  it('ends what needs no credentials; --dry-run only counts', async (t) => {
    verifies('cli/reclaim');
    const { server, mooring, leave, dir } = await scene(t);
    assert.deepEqual(JSON.parse((await mooring('reclaim', '--json')).stdout), {
      found: 0,
      ended: 0,
      gone: 0,
      failed: 0,
    });
    await leave(20);
    const dry = await mooring('reclaim', '--dry-run', '--json');
    assert.deepEqual(JSON.parse(dry.stdout), { found: 20, ended: 0, gone: 0, failed: 0 });
    assert.equal(server.sessions, 20);
    const real = await mooring('reclaim', '--json');
    assert.deepEqual(JSON.parse(real.stdout), { found: 20, ended: 20, gone: 0, failed: 0 });
    assert.deepEqual([dry.code, real.code, server.sessions], [0, 0, 0]);
    assert.match(real.stderr, /20 sessions ended/);
    assert.deepEqual(
      readdirSync(dir).filter((name) => name.endsWith('.jsonl')),
      [],
    );
  });

  it('says 1 when some failed, and finds them again', async (t) => {
    verifies('cli/reclaim');
    const { server, mooring, leave } = await scene(t);
    await leave(3);
    server.faults.deletes = [{ status: 503 }];
    const first = await mooring('reclaim', '--json');
    assert.deepEqual([first.code, JSON.parse(first.stdout)], [1, { found: 3, ended: 2, gone: 0, failed: 1 }]);
    server.expireAll();
    const second = await mooring('reclaim', '--json');
    assert.deepEqual(
      [second.code, JSON.parse(second.stdout)],
      [0, { found: 1, ended: 0, gone: 1, failed: 0 }],
    );
  });

  it('leaves what was opened with credentials alone until its server is named', async (t) => {
    verifies('cli/reclaim-keeps-credentials');
    const { server, mooring, leave } = await scene(t);
    server.faults.token = 'alice';
    await leave(2, { authorization: 'Bearer alice' });
    const blind = await mooring('reclaim', '--json');
    assert.deepEqual([blind.code, JSON.parse(blind.stdout)], [0, { found: 2, ended: 0, gone: 0, failed: 0 }]);
    assert.match(blind.stderr, /credentials[\s\S]*127\.0\.0\.1:\d+\/mcp: 2 sessions/);
    assert.doesNotMatch(blind.stderr, /hidden/);
    assert.equal(server.log.count({ method: 'DELETE' }), 0);
    const named = await mooring(
      ...[
        'reclaim',
        '--json',
        '--url',
        `${server.url}?key=hidden`,
        '--header',
        'Authorization: Bearer alice',
      ],
    );
    assert.deepEqual([named.code, JSON.parse(named.stdout)], [0, { found: 2, ended: 2, gone: 0, failed: 0 }]);
  });

  it('wrong usage is 2', async (t) => {
    verifies('cli/usage-is-2');
    const { mooring } = await scene(t);
    for (const args of [['--nope'], ['--header', 'a: b'], ['--url', 'x'], ['--url'], ['stray']]) {
      const { code, stdout } = await mooring('reclaim', ...args);
      assert.deepEqual({ args, code, stdout }, { args, code: 2, stdout: '' });
    }
    const help = await mooring('reclaim', '--help');
    assert.equal(help.code, 0);
    assert.match(help.stdout, /--dry-run[\s\S]*--header/);
  });
});
