/**
 * The end of a program that did not close its client.
 */
import { startSdkServer } from '../../../support/sdk-server.js';
import { pause } from '../../../support/until.js';
import type { ClientHost } from '../client-host.js';
import type { Row } from './row.js';

/** An open stream keeps a process for ever; who looks this long has seen it. */
const STAYS_MS = 5_000;

function row(names: Pick<Row, 'id' | 'title' | 'wanted'>, end: (host: ClientHost) => void): Row {
  return {
    ...names,
    endsProcess: true,
    async measure(host) {
      const server = await startSdkServer({ major: 1 });
      try {
        await host.open(server.url);
        end(host);
        const over = await Promise.race([host.ended, pause(STAYS_MS)]);
        await pause(200);
        const deletes = server.log.count({ method: 'DELETE' });
        return {
          text: `${over === undefined ? 'stays' : 'ends'}, ${deletes} DELETE, ${server.sessions} left`,
          good: over !== undefined && deletes === 1 && server.sessions === 0,
        };
      } finally {
        await host.stop();
        await server.stop();
      }
    },
  };
}

export const nothingLeftToDo = row(
  { id: 'nothing-left', title: 'The program has nothing left to do', wanted: 'ends, 1 DELETE, 0 left' },
  (host) => host.done(),
);

export const terminated = row({ id: 'sigterm', title: 'SIGTERM', wanted: 'ends, 1 DELETE, 0 left' }, (host) =>
  host.kill('SIGTERM'),
);
