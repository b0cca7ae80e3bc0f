import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions, createTransport } from 'mooring/client';
import { verifies } from '../requirements.js';
import { connect, MAJORS, newClient } from '../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { until } from '../support/until.js';

/** Shorter and longer than the deadline of close(). */
for (const initializeDelayMs of [300, 3_000]) {
  for (const major of MAJORS) {
    describe(`close() in an initialize of ${initializeDelayMs} ms, on SDK v${major}`, {
      concurrency: true,
    }, () => {
      it('leaves no orphan (createTransport)', async (t) => {
        verifies('ending/orphan-of-initialize');
        const server = await startFaultyServer({ initializeDelayMs });
        t.after(() => server.stop());
        const client = newClient(major);
        const connecting = connect(client, createTransport(server.url, {}));
        const failed = assert.rejects(connecting);
        await until('initialize', () => server.log.count({ rpc: 'initialize' }) === 1);
        const started = performance.now();
        await client.close();
        assert.ok(performance.now() - started < 2_500);
        await failed;
        await until('the session', () => server.peakSessions === 1);
        await assertAllEnded(server);
        assert.equal(confirmedDeletes(server), 1);
      });

      it('leaves no orphan (createSessions)', async (t) => {
        verifies('ending/orphan-of-initialize');
        const server = await startFaultyServer({ initializeDelayMs });
        t.after(() => server.stop());
        const sessions = createSessions({
          servers: { main: { url: server.url } },
          createClient: () => newClient(major),
        });
        const using = sessions.use('main', {}, () => {});
        const failed = assert.rejects(using);
        await until('initialize', () => server.log.count({ rpc: 'initialize' }) === 1);
        const started = performance.now();
        await sessions.close();
        assert.ok(performance.now() - started < 2_500);
        await failed;
        await until('the session', () => server.peakSessions === 1);
        await assertAllEnded(server);
        assert.equal(confirmedDeletes(server), 1);
      });

      it('a caller that gives up leaves no orphan either (createSessions)', async (t) => {
        verifies('ending/orphan-of-initialize');
        const server = await startFaultyServer({ initializeDelayMs });
        t.after(() => server.stop());
        const sessions = createSessions({
          servers: { main: { url: server.url } },
          createClient: () => newClient(major),
        });
        t.after(() => sessions.close());
        const caller = new AbortController();
        const using = sessions.use('main', { signal: caller.signal }, () => {});
        const failed = assert.rejects(using);
        await until('initialize', () => server.log.count({ rpc: 'initialize' }) === 1);
        caller.abort();
        await failed;
        await until('the session', () => server.peakSessions === 1);
        await sessions.close();
        await assertAllEnded(server);
      });
    });
  }
}
