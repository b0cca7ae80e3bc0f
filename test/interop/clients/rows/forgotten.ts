/**
 * The server forgets the session: it expired, or the server was started anew.
 */
import { startSdkServer } from '../../../support/sdk-server.js';
import type { SdkServer } from '../../../support/sdk-server.js';
import { pause } from '../../../support/until.js';
import type { LibraryClient } from '../client-host.js';
import type { Cell, Row } from './row.js';
import { plural } from './row.js';

const CALLS = 10;
/** Long enough for a client to be told that its sockets are gone. */
const DOWN_MS = 300;

const together = (client: LibraryClient, keys: readonly string[]): Promise<unknown> =>
  Promise.all(keys.map((key) => client.call(key)));

const oneByOne = async (client: LibraryClient, keys: readonly string[]): Promise<void> => {
  for (const key of keys) await client.call(key);
};

function row(
  names: Pick<Row, 'id' | 'title'>,
  forget: (server: SdkServer) => unknown,
  make: (client: LibraryClient, keys: readonly string[]) => Promise<unknown>,
): Row {
  return {
    ...names,
    wanted: `${CALLS} of ${CALLS} calls, 1 new session`,
    async measure(host): Promise<Cell> {
      const server = await startSdkServer({ major: 1 });
      try {
        const client = await host.open(server.url);
        const before = server.log.count({ rpc: 'initialize' });
        await forget(server);
        await pause(DOWN_MS);
        const keys = Array.from({ length: CALLS }, (_, i) => `after-${i}`);
        let ok = 0;
        await make(
          { ...client, call: async (key) => counted(await client.call(key), () => (ok += 1)) },
          keys,
        );
        const sessions = server.log.count({ rpc: 'initialize' }) - before;
        const twice = server.tools.twice().length;
        await client.close();
        return {
          text: [
            `${ok} of ${CALLS} calls`,
            plural(sessions, 'new session'),
            ...(twice > 0 ? [`${twice} ran twice`] : []),
          ].join(', '),
          good: ok === CALLS && sessions === 1 && twice === 0,
        };
      } finally {
        await server.stop();
      }
    },
  };
}

function counted<T extends { error?: string }>(outcome: T, succeeded: () => void): T {
  if (outcome.error === undefined) succeeded();
  return outcome;
}

const expire = (server: SdkServer): void => server.expireAll();
const restart = (server: SdkServer): Promise<void> => server.restart(DOWN_MS);

export const expiredOneByOne = row(
  { id: 'expired', title: 'The session expired: ten calls, one after the other' },
  expire,
  oneByOne,
);
export const expiredTogether = row(
  { id: 'expired-together', title: 'The session expired: ten calls at once' },
  expire,
  together,
);
export const restartedOneByOne = row(
  { id: 'restarted', title: 'The server was restarted: ten calls, one after the other' },
  restart,
  oneByOne,
);
export const restartedTogether = row(
  { id: 'restarted-together', title: 'The server was restarted: ten calls at once' },
  restart,
  together,
);
