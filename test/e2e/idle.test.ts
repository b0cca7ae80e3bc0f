import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

describe('a session without work', { concurrency: 8 }, () => {
  everyWay('is ended after idleMs, and the next work opens another', async (t, kind) => {
    verifies('idle/ends-and-wakes');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { idleMs: 400 } });
    await host.call('count', { key: 'a' });
    await until('its end', () => server.sessions === 0);
    assert.equal(confirmedDeletes(server), 1);
    await until('its stream is gone', () => server.log.entries.every((e) => e.durationMs !== undefined));
    const asked = server.log.entries.length;
    await pause(500);
    assert.equal(server.log.entries.length, asked, 'nothing is sent for a session that sleeps');
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
    assert.equal(server.log.count({ status: 404 }), 0);
    await host.close();
    await assertAllEnded(server);
    assert.equal(confirmedDeletes(server), 2);
  });

  everyWay('is not one with a call in flight, however long', async (t, kind) => {
    verifies('idle/not-in-flight');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { idleMs: 300 } });
    assert.equal(await host.call('slow', { key: 'a', ms: 1_000 }), 'slept a');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('is one that only pings', async (t, kind) => {
    verifies('idle/ping-is-no-work');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { idleMs: 500 } });
    await host.call('count', { key: 'a' });
    await host.with(async (client) => {
      for (let n = 0; n < 12; n++) {
        await client.ping();
        await pause(100);
      }
    });
    assert.ok(confirmedDeletes(server) >= 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('leaves no idle connection behind', async (t, kind) => {
    verifies('idle/sockets');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { listen: 'off' } });
    await Promise.all(['a', 'b', 'c'].map((key) => host.call('count', { key })));
    assert.ok(server.sockets > 0);
    await until('no socket', () => server.sockets === 0, { timeoutMs: 7_000 });
    assert.equal(server.sessions, 1);
    await host.close();
    await assertAllEnded(server);
  });
});
