import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import { MAJORS } from '../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
import { type Certificate, makeCertificate } from '../support/tls.js';
import { preload } from '../support/ways.js';

const HOWS = ['default', 'set-later', 'both-layers', 'given'] as const;

describe('a program with an undici of its own, under mooring/register', { concurrency: 2 }, () => {
  for (const major of MAJORS) {
    for (const how of HOWS) {
      it(`${how} (SDK v${major}): re-opened once, one DELETE for each session`, async (t) => {
        verifies('register/undici');
        const server = await startSdkServer({ major });
        const host = spawnHost('through-undici.mjs', {
          args: [server.url, String(major), how],
          // The program's own connections keep it alive for as long as its stream is held.
          env: { MOORING_STREAM_IDLE_MS: '300' },
          nodeArgs: preload('register'),
        });
        t.after(async () => {
          await host.stop();
          await server.stop();
        });
        const { dispatched } = await host.event('ready');
        if (how === 'set-later' || how === 'both-layers') {
          // The program's own dispatcher carries what belongs to it, each request once.
          assert.equal(
            dispatched,
            server.log.count({ method: 'POST' }) + server.log.count({ method: 'GET' }),
          );
        }
        server.expireAll();
        host.tell('go on');
        assert.equal((await host.event('called')).failed, 0);
        const end = await host.ended;
        assert.deepEqual([end.code, host.stderr], [0, '']);
        assert.equal(server.log.count({ rpc: 'initialize' }), 6);
        assert.equal(confirmedDeletes(server), 3);
        for (const n of [0, 1, 2]) assert.equal(server.tools.runs(`later-${n}`), 1);
        await assertAllEnded(server);
      });
    }
  }

  for (const how of ['default', 'both-layers'] as const) {
    it(`${how}: is what it was where Mooring itself cannot be loaded`, async (t) => {
      verifies('register/never-in-the-way');
      const folder = mkdtempSync(join(tmpdir(), 'mooring-alone-'));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const preloadAlone = join(folder, 'preload.cjs');
      cpSync(fileURLToPath(new URL('../../dist/client/register/preload.cjs', import.meta.url)), preloadAlone);
      const server = await startSdkServer({ major: 1 });
      const host = spawnHost('through-undici.mjs', {
        args: [server.url, '1', how],
        nodeArgs: ['--require', preloadAlone],
      });
      t.after(async () => {
        await host.stop();
        await server.stop();
      });
      await host.event('ready');
      assert.equal(server.log.count({ rpc: 'initialize' }), 3);
      assert.equal(server.tools.runs('warm-2'), 1);
      assert.equal(host.stderr, '');
    });
  }

  it('and speaks HTTP/2 with it, gets the same as without', async (t) => {
    verifies('register/http2');
    const certificate = await makeCertificate(t);
    const run = async (nodeArgs: string[]): Promise<unknown> => {
      const { origin, asked } = await startHttp2(t, certificate);
      const env = { NODE_EXTRA_CA_CERTS: certificate.file };
      const host = spawnHost('http2-fetches.mjs', { args: [origin], nodeArgs, env });
      t.after(() => host.stop());
      const { results } = await host.event('done');
      const { code } = await host.ended;
      assert.equal(host.stderr, '');
      return { results, asked: asked.sort(), code };
    };
    const bare = (await run([])) as { results: unknown[]; asked: string[] };
    assert.ok(bare.asked.every((line) => line.startsWith('2.0 ')));
    assert.equal(bare.asked.length, 12);
    assert.deepEqual(await run(preload('register')), bare);
  });
});

/** Says what it was asked, and in which version of HTTP. */
async function startHttp2(
  t: TestContext,
  { key, cert }: Certificate,
): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createSecureServer({ key, cert, allowHTTP1: true }, (req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      const { method, url, httpVersion, headers } = req;
      asked.push(`${httpVersion} ${method} ${url} ${headers['content-length']} ${headers.accept} ${body}`);
      res.writeHead(200, { 'content-type': 'text/plain', 'x-version': httpVersion });
      res.end(`${method} ${body.length}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, asked };
}
