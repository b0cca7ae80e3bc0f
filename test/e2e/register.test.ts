import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { listenHttp } from '../../demo/http-server.js';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
import { preload } from '../support/ways.js';

/** What a server was asked, in order, without what differs from one run to the next. */
async function startEcho(t: TestContext): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const http = await listenHttp(async (req, res) => {
    let body = '';
    for await (const chunk of req.setEncoding('latin1')) body += String(chunk);
    const names = req.rawHeaders.filter((_, n) => n % 2 === 0);
    const length = req.headers['content-length'];
    const text = body.replaceAll(/formdata-undici-\d+/g, 'BOUNDARY');
    asked.push(`${req.method} ${req.url} ${names.join(',')} ${length} ${text}`);
    if (req.url === '/never') return;
    if (req.url === '/redirect') res.writeHead(302, { location: '/get' }).end();
    else if (req.url === '/stream-down') {
      for (const part of ['one', 'two', 'three']) res.write(part);
      res.end();
    } else res.writeHead(200, { 'content-type': 'text/plain' }).end(`${req.method} ${body.length}`);
  });
  t.after(() => http.stop());
  return { origin: http.origin, asked };
}

describe('mooring/register', { concurrency: 2 }, () => {
  it('changes nothing for a program that does not speak MCP, byte for byte', async (t) => {
    verifies('register/touches-nothing-else');
    const run = async (nodeArgs: string[]): Promise<unknown[]> => {
      const { origin, asked } = await startEcho(t);
      const host = spawnHost('ordinary-fetches.mjs', { args: [origin], nodeArgs });
      t.after(() => host.stop());
      const { results } = await host.event('done', 20_000);
      const end = await host.ended;
      assert.equal(host.stderr, '');
      return [results, asked, end.code];
    };
    const [bare, registered] = [await run([]), await run(preload('register'))];
    assert.ok((bare[0] as unknown[]).length > 20);
    assert.deepEqual(registered, bare);
  });

  for (const [name, env] of [
    ['MOORING_OFF=1 is off', { MOORING_OFF: '1' }],
    ['without it there is one DELETE for each session', {}],
  ] as const) {
    it(name, async (t) => {
      verifies('register/off');
      const server = await startSdkServer({ major: 1 });
      const host = spawnHost('process-exit.mjs', {
        args: [server.url, '1', 'register'],
        nodeArgs: preload('register'),
        env,
      });
      t.after(async () => {
        await host.stop();
        await server.stop();
      });
      await host.ended;
      assert.equal(confirmedDeletes(server), 'MOORING_OFF' in env ? 0 : 3);
    });
  }

  it('says on stderr what it did, with MOORING_LOG=1, and no id', async (t) => {
    verifies('register/log');
    const server = await startSdkServer({ major: 1 });
    const host = spawnHost('natural-end.mjs', {
      args: [server.url, '1', 'register'],
      nodeArgs: preload('register'),
      env: { MOORING_LOG: '1', MOORING_LISTEN: 'sometimes' },
    });
    t.after(async () => {
      await host.stop();
      await server.stop();
    });
    await host.ended;
    assert.match(host.stderr, /mooring: session opened [0-9a-f]{12} at 127\.0\.0\.1:\d+/);
    assert.match(host.stderr, /mooring: session terminated [0-9a-f]{12} at \S+ \(exit, HTTP 200, \d+ ms\)/);
    assert.match(host.stderr, /MOORING_LISTEN is ignored: it must be off, active, always/);
    for (const id of server.log.issued()) assert.ok(!host.stderr.includes(id ?? '-'));
    await assertAllEnded(server);
  });

  it('says so also of what it did while the process was exiting', async (t) => {
    verifies('register/log');
    const server = await startSdkServer({ major: 1 });
    const host = spawnHost('process-exit.mjs', {
      args: [server.url, '1', 'register'],
      nodeArgs: preload('register'),
      env: { MOORING_LOG: '1' },
    });
    t.after(async () => {
      await host.stop();
      await server.stop();
    });
    await host.ended;
    const said = host.stderr.match(/^mooring: session terminated [0-9a-f]{12} at \S+ \(exit, HTTP 200\)$/gm);
    assert.equal(said?.length, 3, host.stderr);
    await assertAllEnded(server);
  });

  it('twice is once', async (t) => {
    verifies('register/once');
    const server = await startSdkServer({ major: 1 });
    const twice = [...preload('register'), ...preload('register').with(1, `${preload('register')[1]}?again`)];
    const host = spawnHost('natural-end.mjs', { args: [server.url, '1', 'register'], nodeArgs: twice });
    t.after(async () => {
      await host.stop();
      await server.stop();
    });
    await host.ended;
    assert.equal(server.log.count({ rpc: 'initialize' }), 3);
    assert.equal(confirmedDeletes(server), 3);
  });

  it('beside createFetch in one program handles each request once', async (t) => {
    verifies('register/once');
    const server = await startSdkServer({ major: 1 });
    const host = spawnHost('natural-end.mjs', {
      args: [server.url, '1', 'createFetch'],
      nodeArgs: preload('register'),
    });
    t.after(async () => {
      await host.stop();
      await server.stop();
    });
    await host.ended;
    assert.equal(server.log.count({ rpc: 'initialize' }), 3);
    assert.equal(confirmedDeletes(server), 3);
  });
});
