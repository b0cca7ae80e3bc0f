/**
 * The library's own `close()`, in the program that goes on.
 */
import { confirmedDeletes } from '../../../support/ended.js';
import { startFaultyServer } from '../../../support/faulty-server.js';
import { startSdkServer } from '../../../support/sdk-server.js';
import { pause, until } from '../../../support/until.js';
import type { Row } from './row.js';
import { seconds } from './row.js';

/** A library that only lets go of its stream is done 2 s after that. */
const SETTLE_MS = 5_000;
const MOST_MS = 2_500;
/** A busy machine only adds: of so many closes the shortest counts. */
const TRIES = 3;
/** `initialize` is answered this long after it was asked; the library closes in the middle of it. */
const SLOW_MS = 1_000;

/** Waits for an empty table, or for as long as anything may still come. */
async function settled(server: { sessions: number }): Promise<void> {
  await until('an empty table', () => server.sessions === 0, { timeoutMs: SETTLE_MS }).catch(() => {});
  await pause(200);
}

export const closed: Row = {
  id: 'closed',
  title: 'close()',
  wanted: '1 DELETE, 0 left',
  async measure(host) {
    const server = await startSdkServer({ major: 1 });
    try {
      const client = await host.open(server.url);
      await client.list();
      await client.close();
      await settled(server);
      const deletes = server.log.count({ method: 'DELETE' });
      const good = deletes === 1 && confirmedDeletes(server) === 1 && server.sessions === 0;
      return { text: `${deletes} DELETE, ${server.sessions} left`, good };
    } finally {
      await server.stop();
    }
  },
};

export const closedWhileDeleteHangs: Row = {
  id: 'delete-hangs',
  title: 'close(), and the server does not answer DELETE',
  wanted: `at most ${seconds(MOST_MS)}`,
  async measure(host) {
    const server = await startFaultyServer({ deletes: Array.from({ length: 20 }, () => 'hang' as const) });
    try {
      let best = { ms: Number.POSITIVE_INFINITY, isDone: true };
      for (let i = 0; i < TRIES && best.isDone && best.ms > MOST_MS; i++) {
        const client = await host.open(server.url);
        const { ms, isDone } = await client.close();
        if (ms < best.ms) best = { ms, isDone };
      }
      const asked = server.log.count({ method: 'DELETE' }) > 0 ? '' : ', no DELETE';
      return {
        text: `${best.isDone ? '' : 'over '}${seconds(best.ms)}${asked}`,
        good: best.isDone && best.ms <= MOST_MS,
      };
    } finally {
      await server.stop();
    }
  },
};

export const closedInInitialize: Row = {
  id: 'closed-early',
  title: 'close() before `initialize` is answered, and again if the library opens all the same',
  wanted: '0 left',
  async measure(host) {
    const server = await startFaultyServer({ initializeDelayMs: SLOW_MS });
    try {
      const client = host.begin(server.url);
      await until('initialize', () => server.log.count({ rpc: 'initialize' }) > 0, {
        timeoutMs: 20_000,
      });
      await pause(SLOW_MS / 3);
      await client.close();
      const { error, isDone } = await client.opened;
      if (!isDone) throw new Error('neither opened nor failed');
      // Then it is no orphan yet: the program was handed a client, and lets go of it.
      if (error === undefined) await client.close();
      await pause(SLOW_MS);
      await settled(server);
      return { text: `${server.sessions} left`, good: server.sessions === 0 };
    } finally {
      await server.stop();
    }
  },
};
