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
      await client.call('one');
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
    const server = await startFaultyServer({ deletes: Array.from({ length: 10 }, () => 'hang' as const) });
    try {
      const client = await host.open(server.url);
      await client.call('one');
      const { ms, isDone } = await client.close();
      const asked = server.log.count({ method: 'DELETE' }) > 0 ? '' : ', no DELETE';
      return { text: `${isDone ? '' : 'over '}${seconds(ms)}${asked}`, good: isDone && ms <= MOST_MS };
    } finally {
      await server.stop();
    }
  },
};

export const closedInInitialize: Row = {
  id: 'closed-early',
  title: 'close() before `initialize` is answered',
  wanted: '0 left',
  async measure(host) {
    const server = await startFaultyServer({ initializeDelayMs: SLOW_MS });
    try {
      const client = host.begin(server.url);
      await until('initialize', () => server.log.count({ rpc: 'initialize' }) > 0);
      await pause(SLOW_MS / 3);
      await client.close();
      await client.opened;
      await pause(SLOW_MS);
      await settled(server);
      return { text: `${server.sessions} left`, good: server.sessions === 0 };
    } finally {
      await server.stop();
    }
  },
};
