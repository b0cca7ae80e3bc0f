/** What a killed process leaves behind is ended by the next one that speaks to the same server as the same user. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSessions, type Sessions } from '../../src/client/sessions.js';
import { createTransport } from '../../src/client/transport.js';
import { verifies } from '../requirements.js';
import { type HostChild, spawnHost } from '../support/child.js';
import { type AnyClient, connect, newClient } from '../support/clients.js';
import { type FaultyServer, startFaultyServer } from '../support/faulty-server.js';
import { pause, until } from '../support/until.js';

interface Scene {
  server: FaultyServer;
  dir: string;
  /** A host in a process of its own, with so many sessions. */
  host(count: number, options?: { prefix?: string[]; headers?: Record<string, string> }): Promise<HostChild>;
  /** A host in this process. */
  sessions(headers?: Record<string, string>): Sessions<AnyClient>;
}

async function scene(t: TestContext): Promise<Scene> {
  const server = await startFaultyServer();
  const dir = join(mkdtempSync(join(tmpdir(), 'mooring-ledger-')), 'ledger');
  const ends: Array<() => Promise<unknown>> = [];
  t.after(async () => {
    await Promise.all(ends.map((end) => end()));
    await server.stop();
    rmSync(join(dir, '..'), { recursive: true, force: true });
  });
  return {
    server,
    dir,
    async host(count, { prefix = [], headers = {} } = {}) {
      const host = spawnHost('holds-many.mjs', {
        args: [server.url, String(count), JSON.stringify(headers)],
        env: { MOORING_LEDGER_DIR: dir },
        prefix,
      });
      ends.push(() => host.stop());
      await host.event('open', 20_000);
      return host;
    },
    sessions(headers = {}) {
      const sessions = createSessions({
        servers: { main: { url: server.url, headers, listen: 'off' } },
        createClient: () => newClient(2),
        ledger: { dir },
      });
      ends.push(() => sessions.close());
      return sessions;
    },
  };
}

const files = (dir: string): string[] => readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
const entriesIn = (dir: string): number =>
  files(dir).flatMap((name) => readFileSync(join(dir, name), 'utf8').match(/"opened"/g) ?? []).length;
const deletes = ({ server }: Scene): string[] =>
  server.log.select({ method: 'DELETE' }).map(({ sid }) => sid ?? 'none');
const reclaimed = (sessions: Sessions<AnyClient>): number => sessions.stats().servers.main?.reclaimed ?? -1;

async function kill(host: HostChild): Promise<void> {
  host.kill('SIGKILL');
  await host.ended;
}

/** Until nothing more fits. */
function fill(folder: string): void {
  try {
    for (let n = 0; n < 8; n += 1) writeFileSync(join(folder, `fill${n}`), Buffer.alloc(4_096));
  } catch {
    // Full.
  }
}

describe('the ledger', { concurrency: 2 }, () => {
  it('ends all 100 sessions of a killed process at the next open, and none of a live one', async (t) => {
    verifies('ledger/reclaims');
    verifies('ledger/spares-the-living');
    const at = await scene(t);
    const doomed = await at.host(100);
    const living = await at.host(3);
    await kill(doomed);
    assert.equal(at.server.sessions, 103);
    const sessions = at.sessions();
    await sessions.use('main', {}, () => {});
    await until('100 reclaimed', () => reclaimed(sessions) === 100);
    assert.equal(at.server.sessions, 4);
    assert.equal(new Set(deletes(at)).size, 100);
    assert.equal(deletes(at).length, 100);
    living.tell('stats');
    assert.equal((await living.event('stats')).live, 3);
    await sessions.close();
    assert.deepEqual([at.server.sessions, files(at.dir).length], [3, 1]);
  });

  it('is for its owner alone, holds no credential, and is gone when nothing is in it', async (t) => {
    verifies('ledger/owner-only');
    const at = await scene(t);
    const sessions = at.sessions({ authorization: 'Bearer very-secret' });
    await sessions.acquire('main');
    assert.equal(statSync(at.dir).mode & 0o777, 0o700);
    for (const name of readdirSync(at.dir)) {
      assert.equal(statSync(join(at.dir, name)).mode & 0o777, 0o600);
      assert.doesNotMatch(readFileSync(join(at.dir, name), 'utf8'), /very-secret/);
    }
    assert.equal(entriesIn(at.dir), 1);
    await sessions.close();
    assert.deepEqual(files(at.dir), []);
  });

  it('goes by the start time where a pid was given to another process', async (t) => {
    verifies('ledger/reused-pid');
    const at = await scene(t);
    await kill(await at.host(2));
    const [name = ''] = files(at.dir);
    const [place, , start, rest] = name.split('-');
    renameSync(join(at.dir, name), join(at.dir, [place, process.pid, start, rest].join('-')));
    const sessions = at.sessions();
    await sessions.use('main', {}, () => {});
    await until('both reclaimed', () => reclaimed(sessions) === 2);
  });

  it('of another pid namespace is dead only when nobody has touched it for 5 minutes', async (t) => {
    verifies('ledger/other-namespace');
    const unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
    const tried = spawnSync(unshare[0] as string, [...unshare.slice(1), 'true']);
    assert.equal(tried.status, 0, 'this test needs unshare(1) and the right to make a pid namespace');
    const at = await scene(t);
    await kill(await at.host(2, { prefix: unshare }));
    const [name = ''] = files(at.dir);
    const early = at.sessions();
    await early.use('main', {}, () => {});
    await pause(100);
    assert.deepEqual(deletes(at), []);
    await early.close();
    const then = Date.now() / 1_000 - 301;
    utimesSync(join(at.dir, name), then, then);
    const late = at.sessions();
    await late.use('main', {}, () => {});
    await until('both reclaimed', () => reclaimed(late) === 2);
  });

  it('gives each session to one of two claimants', async (t) => {
    verifies('ledger/one-claimant');
    const at = await scene(t);
    await kill(await at.host(40));
    const both = [at.sessions(), at.sessions(), at.sessions()];
    await Promise.all([...both.map((sessions) => sessions.use('main', {}, () => {})), at.host(1)]);
    await until('all are gone', () => at.server.sessions === 4);
    assert.equal(deletes(at).length, 40);
    assert.equal(new Set(deletes(at)).size, 40);
  });

  it('leaves the sessions of another user to that user, whichever way they came in', async (t) => {
    verifies('ledger/own-principal-only');
    const at = await scene(t);
    await kill(await at.host(2, { headers: { authorization: 'Bearer alice' } }));
    const bob = newClient(2);
    await connect(
      bob,
      createTransport(at.server.url, {
        headers: { authorization: 'Bearer bob' },
        listen: 'off',
        ledger: { dir: at.dir },
      }),
    );
    await pause(100);
    assert.deepEqual(deletes(at), []);
    await bob.close();
    const alice = newClient(2);
    await connect(
      alice,
      createTransport(at.server.url, {
        headers: { authorization: 'Bearer alice' },
        listen: 'off',
        ledger: { dir: at.dir },
      }),
    );
    await until('hers are gone', () => at.server.sessions === 1);
    await alice.close();
    assert.deepEqual(files(at.dir), []);
  });

  it('keeps what the server does not let go, for a later process', async (t) => {
    verifies('ledger/unconfirmed-stays');
    const at = await scene(t);
    await kill(await at.host(3));
    at.server.faults.deletes = [{ status: 403 }, { status: 403 }, { status: 403 }];
    const sessions = at.sessions();
    await sessions.use('main', {}, () => {});
    await until('three refusals', () => deletes(at).length === 3);
    at.server.faults.deletes = [];
    await sessions.close();
    assert.equal(entriesIn(at.dir) >= 3, true);
    const later = at.sessions();
    await later.use('main', {}, () => {});
    await until('all reclaimed', () => at.server.sessions === 1);
    await later.close();
    assert.deepEqual(files(at.dir), []);
  });

  it('sets garbage aside and uses the rest', async (t) => {
    verifies('ledger/garbage');
    const at = await scene(t);
    await kill(await at.host(2));
    const [name = ''] = files(at.dir);
    const path = join(at.dir, name);
    writeFileSync(path, `not json\n{"opened":{"url":1}}\n${readFileSync(path, 'utf8')}{"opened":{"u`);
    writeFileSync(join(at.dir, name.replace(/.{12}\.jsonl$/, '000000000000.jsonl')), '\0\0garbage\n');
    mkdirSync(join(at.dir, name.replace(/.{12}\.jsonl$/, '000000000001.jsonl')));
    const sessions = at.sessions();
    await sessions.use('main', {}, () => {});
    await until('both reclaimed', () => reclaimed(sessions) === 2);
    assert.equal(readdirSync(at.dir).filter((file) => file.endsWith('.garbage')).length, 2);
  });

  it('a folder that cannot be made, or a full disk, costs one warning and nothing else', async (t) => {
    verifies('ledger/disk-faults');
    const at = await scene(t);
    const folder = join(at.dir, '..');
    writeFileSync(join(folder, 'file'), '');
    const full = join(folder, 'full');
    mkdirSync(full);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=0700', 'tmpfs', full]);
    const dirs = [join(folder, 'file', 'below')];
    if (mounted.status === 0) dirs.push(full);
    else t.diagnostic('mount(8) is not permitted here: the full disk was not tried');
    try {
      if (mounted.status === 0) fill(full);
      for (const dir of dirs) {
        const host = spawnHost('holds-many.mjs', {
          args: [at.server.url, '3'],
          env: { MOORING_LEDGER_DIR: dir },
        });
        await host.event('open');
        host.kill('SIGTERM');
        const { signal } = await host.ended;
        assert.equal(signal, 'SIGTERM');
        assert.equal(host.stderr.match(/MOORING_LEDGER/g)?.length, 1, host.stderr);
        assert.equal(at.server.sessions, 0);
      }
    } finally {
      if (mounted.status === 0) spawnSync('umount', [full]);
    }
  });

  it('a signal leaves no file behind', async (t) => {
    verifies('ledger/confirmed-at-exit');
    const at = await scene(t);
    const host = await at.host(5);
    assert.equal(entriesIn(at.dir), 5);
    host.kill('SIGTERM');
    await host.ended;
    assert.deepEqual([at.server.sessions, files(at.dir)], [0, []]);
  });

  it('can be switched off', async (t) => {
    verifies('ledger/off');
    const at = await scene(t);
    const client = newClient(2);
    await connect(client, createTransport(at.server.url, { ledger: false }));
    await client.close();
    assert.throws(() => createTransport(at.server.url, { ledger: true as never }), /MOORING|ledger/);
    assert.throws(() => readdirSync(at.dir), /ENOENT/);
  });
});
