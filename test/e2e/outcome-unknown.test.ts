import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';
import { codeOf, everyWay, openHost } from '../support/ways.js';

describe('a connection lost during tools/call', () => {
  everyWay('is told within a second, and the tool ran once', async (t, kind) => {
    verifies('lost/outcome-unknown');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    server.faults.calls = [{ kind: 'destroy' }];
    const started = performance.now();
    assert.equal(await codeOf(host.call('count', { key: 'a' })), 'MOORING_OUTCOME_UNKNOWN');
    assert.ok(performance.now() - started < 1_000);
    assert.equal(server.tools.runs('a'), 1);
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('in the middle of a stream without event ids is the same', async (t, kind) => {
    verifies('lost/outcome-unknown');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    server.faults.calls = [{ kind: 'cut', ids: false }];
    assert.equal(await codeOf(host.call('count', { key: 'a' })), 'MOORING_OUTCOME_UNKNOWN');
    assert.equal(server.tools.runs('a'), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('in the middle of a stream with event ids is resumed', async (t, kind) => {
    verifies('lost/resumed');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    server.faults.calls = [{ kind: 'cut', ids: true }];
    assert.equal(await host.call('count', { key: 'a' }), 'counted a');
    assert.equal(server.tools.runs('a'), 1);
    assert.equal(server.log.select({ method: 'GET' }).filter((e) => e.headers['last-event-id']).length, 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('is tried again when the tool is known to be read-only', async (t, kind) => {
    verifies('lost/read-only-is-tried-again');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    server.faults.calls = [{ kind: 'destroy' }];
    assert.equal(await codeOf(host.call('lookup', { key: 'unlisted' })), 'MOORING_OUTCOME_UNKNOWN');
    await host.with(async (client) => void (await client.listTools()));
    server.faults.calls = [{ kind: 'destroy' }];
    assert.equal(await host.call('lookup', { key: 'a' }), 'looked up a');
    assert.equal(server.tools.runs('a'), 2);
    server.faults.calls = [{ kind: 'destroy' }];
    assert.equal(await codeOf(host.call('count', { key: 'b' })), 'MOORING_OUTCOME_UNKNOWN');
    assert.equal(server.tools.runs('b'), 1);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('by a server restart is told at once; the next call answers', async (t, kind) => {
    verifies('lost/outcome-unknown');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const slow = codeOf(host.call('slow', { key: 'a', ms: 5_000 }));
    await until('the tool runs', () => server.tools.runs('a') === 1);
    const started = performance.now();
    await server.restart(50);
    assert.equal(await slow, 'MOORING_OUTCOME_UNKNOWN');
    assert.ok(performance.now() - started < 1_500);
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.tools.runs('a'), 1);
    await host.close();
    await assertAllEnded(server);
  });
});

describe('a connection that fails before a byte was written', () => {
  everyWay('is made again within the deadline of the call', async (t, kind) => {
    verifies('lost/unwritten-is-tried-again');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const back = server.restart(600);
    // Until the end of the old connection has arrived; written into it, the call would be lost.
    await pause(150);
    assert.equal(await host.call('count', { key: 'a' }), 'counted a');
    await back;
    assert.equal(server.tools.runs('a'), 1);
    await host.close();
    await assertAllEnded(server);
  });
});
