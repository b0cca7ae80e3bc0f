import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { pause, until } from '../support/until.js';
import { codeOf, everyWay, openHost } from '../support/ways.js';

describe('generations of one session', { concurrency: 8 }, () => {
  everyWay('a late refusal of an older one never clears the newer one', async (t, kind) => {
    verifies('refused/late-refusal');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'before' });
    server.faults.calls = [{ kind: 'status', status: 404, delayMs: 500 }];
    const late = host.call('count', { key: 'late' });
    await until('the late call is out', () => server.faults.calls.length === 0);
    server.expireAll();
    assert.equal(await host.call('count', { key: 'early' }), 'counted early');
    assert.equal(await late, 'counted late');
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
    assert.deepEqual(server.tools.twice(), []);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('a call that still streams on an older one runs on', async (t, kind) => {
    verifies('refused/older-streams-run-on');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const slow = host.call('slow', { key: 'slow', ms: 800 });
    await until('the tool runs', () => server.tools.runs('slow') === 1);
    server.expireAll('keep');
    assert.equal(await host.call('count', { key: 'new' }), 'counted new');
    assert.equal(await slow, 'slept slow');
    assert.equal(server.log.count({ rpc: 'initialize' }), 2);
    assert.deepEqual(server.tools.twice(), []);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('a re-open that fails keeps the old id, which the next call tries first', async (t, kind) => {
    verifies('refused/failed-reopen-keeps-the-id');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.call('count', { key: 'before' });
    const [sid] = server.log.issued();
    server.expireAll();
    server.faults.initializes = [{ status: 400, body: { error: 'not now' } }];
    assert.equal(await codeOf(host.call('count', { key: 'a' })), 'MOORING_OPEN_FAILED');
    const since = server.log.now();
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    assert.equal(server.log.select({ method: 'POST', since })[0]?.sid, sid);
    assert.equal(server.log.count({ rpc: 'initialize' }), 3);
    assert.equal(server.tools.runs('a'), 0);
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('log level and subscriptions are the same on the new one', async (t, kind) => {
    verifies('refused/restores-state');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await host.with(async (client) => {
      await client.setLoggingLevel('warning');
      await client.subscribeResource({ uri: 'test://kept' });
      await client.subscribeResource({ uri: 'test://dropped' });
      await client.unsubscribeResource({ uri: 'test://dropped' });
    });
    server.expireAll();
    const since = server.log.now();
    await host.call('count', { key: 'a' });
    const [, sid] = server.log.issued();
    assert.ok(sid);
    const sent = server.log.select({ sid, since }).filter(({ method }) => method === 'POST');
    assert.deepEqual(
      sent.map(({ rpc }) => rpc[0]),
      ['notifications/initialized', 'logging/setLevel', 'resources/subscribe', 'tools/call'],
    );
    const uri = (sent[2]?.body as { params: { uri: string } } | undefined)?.params.uri;
    assert.equal(uri, 'test://kept');
    await host.close();
    await assertAllEnded(server);
  });

  everyWay('a cancelled call is cancelled on the one it runs on', async (t, kind) => {
    verifies('refused/answers-belong-to-their-generation');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    const [old] = server.log.issued();
    const caller = new AbortController();
    const slow = assert.rejects(host.call('slow', { key: 'slow', ms: 5_000 }, { signal: caller.signal }));
    await until('the tool runs', () => server.tools.runs('slow') === 1);
    caller.abort();
    await slow;
    await until('the cancellation', () => server.log.count({ rpc: 'notifications/cancelled' }) === 1);
    assert.equal(server.log.select({ rpc: 'notifications/cancelled' })[0]?.sid, old);
    assert.equal(await host.call('count', { key: 'a' }), 'counted a');

    // Its session is gone in the meantime: nobody is there to be told.
    const again = new AbortController();
    const lost = assert.rejects(host.call('slow', { key: 'lost', ms: 5_000 }, { signal: again.signal }));
    await until('the tool runs', () => server.tools.runs('lost') === 1);
    server.expireAll('keep');
    assert.equal(await host.call('count', { key: 'b' }), 'counted b');
    again.abort();
    await lost;
    await pause(200);
    const [, young] = server.log.issued();
    assert.equal(server.log.count({ rpc: 'notifications/cancelled', sid: young as string }), 0);
    await host.close();
    await assertAllEnded(server);
  });
});
