import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import type { CallFault } from '../support/faulty/faults.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { codeOf, everyWay, openHost, WITH_CREDENTIALS } from '../support/ways.js';

const html = { 'content-type': 'text/html' };
const ANSWERS: readonly (readonly [string, CallFault, string])[] = [
  ['a web page', { kind: 'status', status: 200, body: 'hello', headers: html }, 'MOORING_BAD_RESPONSE'],
  ['JSON that is no JSON-RPC', { kind: 'status', status: 200, body: { ok: true } }, 'MOORING_BAD_RESPONSE'],
  // The call reached the server, so it may have run (report R046).
  ['an event that is no JSON-RPC', { kind: 'event', data: '{"error":"oops"}' }, 'MOORING_OUTCOME_UNKNOWN'],
  ['an event that is no JSON', { kind: 'event', data: 'oops' }, 'MOORING_OUTCOME_UNKNOWN'],
  ['a 500', { kind: 'status', status: 500 }, 'MOORING_HTTP_STATUS'],
  ['a 403', { kind: 'status', status: 403 }, 'MOORING_UNAUTHORIZED'],
  ['a 429 without Retry-After', { kind: 'status', status: 429 }, 'MOORING_HTTP_STATUS'],
];

describe('a call that is answered with', () => {
  for (const [name, fault, code] of ANSWERS) {
    everyWay(
      `${name} fails at once with ${code}, and the session lives`,
      async (t, kind) => {
        verifies('answers/typed-errors');
        const server = await startFaultyServer();
        t.after(() => server.stop());
        const host = await openHost(t, kind, server.url);
        server.faults.calls = [fault];
        const started = performance.now();
        assert.equal(await codeOf(host.call('count', { key: 'a' })), code);
        assert.ok(performance.now() - started < 2_000);
        assert.equal(await host.call('count', { key: 'b' }), 'counted b');
        assert.equal(server.log.count({ rpc: 'initialize' }), 1);
        await host.close();
        await assertAllEnded(server);
        // A 403 is the library's to hear as it is: it may be able to ask for more.
      },
      code === 'MOORING_UNAUTHORIZED' ? { ways: WITH_CREDENTIALS } : {},
    );
  }

  everyWay('nothing, because the server is away, fails within the deadline', async (t, kind) => {
    verifies('lost/unwritten-is-tried-again');
    const server = await startFaultyServer();
    t.after(() => server.stop());
    const bounds = { acquireMs: 700, deleteMs: 300 };
    const host = await openHost(t, kind, server.url, { bounds });
    await host.call('count', { key: 'a' });
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const started = performance.now();
    assert.equal(await codeOf(host.call('count', { key: 'b' })), 'MOORING_OPEN_FAILED');
    assert.ok(performance.now() - started < 2_500);
    await host.close();
  });
});
