import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifies } from '../requirements.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startProxy } from '../support/proxy.js';
import { startSdkServer } from '../support/sdk-server.js';
import { makeCertificate, startTlsFront } from '../support/tls.js';
import { until } from '../support/until.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'dist/cli/main.js');
const HOSTS = join(ROOT, 'test/fixtures/hosts/');

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `mooring run -- node HOST URL 1 register`, from a folder of its own without node_modules. */
function runHost(
  t: TestContext,
  host: string,
  url: string,
  { main = MAIN, env = {} }: { main?: string; env?: Record<string, string> } = {},
): { ended: Promise<Ended>; kill(signal: NodeJS.Signals): void; said(text: string): Promise<unknown> } {
  const cwd = mkdtempSync(join(tmpdir(), 'mooring run '));
  const args = [main, 'run', '--', process.execPath, join(HOSTS, host), url, '1', 'register'];
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
    rmSync(cwd, { recursive: true, force: true });
  });
  return {
    ended,
    kill: (signal) => void child.kill(signal),
    said: (text) => until(text, () => stdout.includes(text), { timeoutMs: 15_000 }),
  };
}

async function startServer(t: TestContext): Promise<Awaited<ReturnType<typeof startSdkServer>>> {
  const server = await startSdkServer({ major: 1 });
  t.after(() => server.stop());
  return server;
}

const mooring = (args: readonly string[], env: Record<string, string> = {}): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', env: { ...process.env, ...env } });

describe('mooring run', { concurrency: 2 }, () => {
  it('ends the sessions of a program that knows nothing of Mooring, and keeps its exit code', async (t) => {
    verifies('run/ends-sessions');
    const server = await startServer(t);
    const { code, stderr } = await runHost(t, 'process-exit.mjs', server.url).ended;
    assert.deepEqual([code, stderr], [7, '']);
    assert.equal(confirmedDeletes(server), 3);
    await assertAllEnded(server);
  });

  for (const [signal, expected] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    it(`hands on ${signal} and ends with ${expected}`, async (t) => {
      verifies('run/signals');
      const server = await startServer(t);
      const host = runHost(t, 'waits.mjs', server.url);
      await host.said('"ready"');
      host.kill(signal);
      assert.equal((await host.ended).code, expected);
      assert.equal(confirmedDeletes(server), 3);
      await assertAllEnded(server);
    });
  }

  it('works from a path with spaces and quotes', async (t) => {
    verifies('run/any-path');
    const server = await startServer(t);
    const home = mkdtempSync(join(tmpdir(), 'a "path" with spaces '));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    cpSync(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'package.json'), join(home, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
    const main = join(home, 'dist/cli/main.js');
    const { code, stderr } = await runHost(t, 'natural-end.mjs', server.url, { main }).ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(confirmedDeletes(server), 3);
  });

  it('keeps what NODE_OPTIONS holds already', async (t) => {
    verifies('run/keeps-node-options');
    const server = await startServer(t);
    const env = { NODE_OPTIONS: '--title=kept' };
    const { code } = await runHost(t, 'natural-end.mjs', server.url, { env }).ended;
    assert.equal(code, 0);
    assert.equal(confirmedDeletes(server), 3);
    const { stdout } = mooring(['run', '--', process.execPath, '-p', 'process.title'], env);
    assert.equal(String(stdout).trim(), 'kept');
  });

  it('goes through HTTP_PROXY', async (t) => {
    verifies('run/proxy');
    const server = await startServer(t);
    const proxy = await startProxy();
    t.after(() => proxy.stop());
    const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, NO_PROXY: '', no_proxy: '' };
    const { code, stderr } = await runHost(t, 'process-exit.mjs', server.url, { env }).ended;
    assert.equal(code, 7, stderr);
    assert.equal(confirmedDeletes(server), 3);
    assert.ok(proxy.used > 0);
  });

  for (const [file, code] of [
    ['natural-end.mjs', 0],
    ['process-exit.mjs', 7],
  ] as const) {
    it(`trusts the authority that NODE_EXTRA_CA_CERTS names, to the end of ${file}`, async (t) => {
      verifies('run/custom-ca');
      const server = await startServer(t);
      const certificate = await makeCertificate(t);
      const { origin, pathname } = new URL(server.url);
      const front = await startTlsFront(t, origin, certificate);
      const env = { NODE_EXTRA_CA_CERTS: certificate.file };
      const end = await runHost(t, file, `${front}${pathname}`, { env }).ended;
      assert.deepEqual([end.code, end.stderr], [code, '']);
      assert.equal(confirmedDeletes(server), 3);
      await assertAllEnded(server);
    });
  }

  it('says what is wrong with its own use', () => {
    verifies('run/usage');
    const without = mooring(['run']);
    assert.equal(without.status, 2);
    assert.match(String(without.stderr), /the command comes after --, like: mooring run -- /);
    const missing = mooring(['run', '--', 'no-such-command-here']);
    assert.equal(missing.status, 127);
    assert.match(String(missing.stderr), /there is no command no-such-command-here/);
    const help = mooring(['run', '--help']);
    assert.equal(help.status, 0);
    assert.match(String(help.stdout), /MOORING_LOG/);
  });
});

describe('mooring env', () => {
  it('prints a line that a shell can take, once', () => {
    verifies('env/line');
    const line = String(mooring(['env'], { NODE_OPTIONS: "--title='it'" }).stdout).trim();
    assert.match(line, /^export NODE_OPTIONS='--title=/);
    const script = `${line}\n${line}\nnode -p 'fetch.toString().includes("mayInitialize")'`;
    assert.equal(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout.trim(), 'true');
    const { NODE_OPTIONS } = JSON.parse(String(mooring(['env', '--json']).stdout)) as Record<string, string>;
    const again = JSON.parse(String(mooring(['env', '--json'], { NODE_OPTIONS: NODE_OPTIONS ?? '' }).stdout));
    assert.equal(again.NODE_OPTIONS, NODE_OPTIONS);
  });
});
