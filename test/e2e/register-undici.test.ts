import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { verifies } from '../requirements.js';
import { spawnHost } from '../support/child.js';
import { MAJORS } from '../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
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
});
