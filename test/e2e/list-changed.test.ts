import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions } from 'mooring/client';
import { verifies } from '../requirements.js';
import { callTool, MAJORS, newClient } from '../support/clients.js';
import type { AnyClient } from '../support/clients.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { pause, until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

const TOOLS = 'notifications/tools/list_changed';

/** Notes the methods that a client is notified of. */
function noteNotifications(client: AnyClient): string[] {
  const seen: string[] = [];
  client.fallbackNotificationHandler = async ({ method }: { method: string }) => {
    seen.push(method);
  };
  return seen;
}

describe('lists that may have changed while nobody listened', { concurrency: 8 }, () => {
  everyWay('are said to have changed once, at the next work', async (t, kind) => {
    verifies('lists/gap-brings-one');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const host = await openHost(t, kind, server.url, { bounds: { streamIdleMs: 200 } });
    const seen = await host.with(async (client) => noteNotifications(client));
    await host.call('count', { key: 'a' });
    const streams = () => server.log.select({ method: 'GET', status: 200 });
    await until('a stream, and its end', () => streams()[0]?.durationMs !== undefined);
    assert.deepEqual(seen, []);
    for (const key of ['b', 'c']) {
      await host.call('count', { key });
      await until('a stream, and its end', () => streams().at(-1)?.durationMs !== undefined);
      await pause(300);
    }
    assert.deepEqual(seen, [TOOLS], 'one for two gaps; of the declared kinds only');
    assert.equal(server.log.count({ rpc: 'initialize' }), 1);
    await host.close();
    await assertAllEnded(server);
  });

  for (const major of MAJORS) {
    it(`are told to all sessions when one hears of it (SDK v${major}, createSessions)`, async (t) => {
      verifies('lists/real-one-is-told-to-all');
      const server = await startFaultyServer();
      t.after(() => server.stop());
      const sessions = createSessions({
        servers: { main: { url: server.url, streamIdleMs: 300 } },
        createClient: () => newClient(major),
      });
      t.after(() => sessions.close());
      const call = (scope: string, key: string) =>
        sessions.use('main', { scope }, async (client) => {
          await callTool(client as AnyClient, 'count', { key });
          return client as AnyClient;
        });
      const streams = () => server.log.select({ method: 'GET', status: 200 });
      const quiet = noteNotifications(await call('quiet', 'a'));
      await until('a stream, and its end', () => streams()[0]?.durationMs !== undefined);
      const listening = noteNotifications(await call('listening', 'b'));
      await until('its stream', () => streams().length === 2);
      quiet.length = 0;
      listening.length = 0;
      await server.notify(TOOLS);
      await until('both know', () => quiet.length > 0 && listening.length > 0);
      assert.deepEqual([quiet, listening], [[TOOLS], [TOOLS]]);
      await sessions.close();
      await assertAllEnded(server);
    });
  }
});
