import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { callTool, MAJORS, newClient } from '../support/clients.js';
import type { AnyClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { startSdkServer } from '../support/sdk-server.js';
import { everyWay, openHost } from '../support/ways.js';

const TEN = Array.from({ length: 10 }, (_, n) => `k${n}`);

describe('ten first calls at once', () => {
  for (const major of MAJORS) {
    it(`in one scope share one initialize (SDK v${major}, createSessions)`, async (t) => {
      verifies('open/shared');
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      let clients = 0;
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => {
          clients += 1;
          return newClient(major);
        },
      });
      t.after(() => sessions.close());
      const answers = await Promise.all(
        TEN.map((key) =>
          sessions.use('main', { scope: 'chat' }, (client) =>
            callTool(client as AnyClient, 'count', { key }),
          ),
        ),
      );
      assert.equal(answers.length, 10);
      assert.equal(server.log.count({ rpc: 'initialize' }), 1);
      assert.equal(clients, 1);
      assert.deepEqual(server.tools.twice(), []);
      await sessions.close();
      await assertAllEnded(server);
    });

    it(`share a slow initialize that fails, and each hears of it (SDK v${major}, createSessions)`, async (t) => {
      verifies('open/shared');
      const server = await startFaultyServer({ initializes: [{ status: 400, body: { error: 'no' } }] });
      t.after(() => server.stop());
      const sessions = createSessions({
        servers: { main: { url: server.url } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const use = (key: string) =>
        sessions.use('main', {}, (client) => callTool(client as AnyClient, 'count', { key }));
      const results = await Promise.allSettled(TEN.map(use));
      assert.ok(results.every(({ status }) => status === 'rejected'));
      assert.equal(server.log.count({ rpc: 'initialize' }), 1);
      assert.equal(await use('later'), 'counted later');
      await sessions.close();
      await assertAllEnded(server);
    });
  }

  everyWay('on an open session need no second one', async (t, kind) => {
    verifies('open/shared');
    const server = await startSdkServer({ major: kind.major });
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url);
    await Promise.all(TEN.map((key) => host.call('count', { key })));
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    assert.deepEqual(server.tools.lost(TEN), []);
    await host.close();
    await assertAllEnded(server);
  });
});

describe('forty calls at once', () => {
  everyWay('are no leak of listeners that Node would warn of', async (t, { way, major }) => {
    verifies('process-end/constant-listeners');
    const server = await startSdkServer({ major });
    t.after(() => server.stop());
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): number => warnings.push(name);
    process.on('warning', onWarning);
    t.after(() => process.off('warning', onWarning));
    const host = await openHost(t, { way, major }, server.url);
    await Promise.all(Array.from({ length: 40 }, (_, n) => host.call('count', { key: `w${n}` })));
    await host.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(warnings, []);
  });
});
