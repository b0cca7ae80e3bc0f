/**
 * The listening stream: a server that ends it again and again, and a program that has nothing to do.
 */
import { startFaultyServer } from '../../../support/faulty-server.js';
import { startSdkServer } from '../../../support/sdk-server.js';
import { pause } from '../../../support/until.js';
import type { Row } from './row.js';
import { plural } from './row.js';

const WATCH_MS = 10_000;
const MOST_GETS = 4;
/** `streamIdleMs`, and the 4 s after which a socket without a request is dropped. */
const IDLE_MS = 10_000 + 5_000;

export const endedStreams: Row = {
  id: 'ended-streams',
  title: 'The server ends each listening stream at once, for 10 s',
  wanted: `at most ${MOST_GETS} GETs`,
  async measure(host) {
    const server = await startFaultyServer({ get: { kind: 'stream', endAfterMs: 50 } });
    try {
      const client = await host.open(server.url);
      await pause(WATCH_MS);
      const gets = server.log.select({ method: 'GET' }).filter(({ sid }) => sid !== undefined).length;
      const { error } = await client.call('again');
      await client.close();
      return {
        text: `${plural(gets, 'GET')}${error === undefined ? '' : ', and calls fail'}`,
        good: gets <= MOST_GETS && error === undefined,
      };
    } finally {
      await server.stop();
    }
  },
};

export const idle: Row = {
  id: 'idle',
  title: 'Nothing to do for 15 s',
  wanted: '0 streams, 0 sockets',
  async measure(host) {
    const server = await startSdkServer({ major: 1 });
    try {
      const client = await host.open(server.url);
      await pause(IDLE_MS);
      const streams = server.log
        .select({ method: 'GET', status: 200 })
        .filter(({ durationMs }) => durationMs === undefined).length;
      const { sockets } = server;
      const { error } = await client.call('again');
      await client.close();
      return {
        text: `${plural(streams, 'stream')}, ${plural(sockets, 'socket')}${error === undefined ? '' : ', and calls fail'}`,
        good: streams === 0 && sockets === 0 && error === undefined,
      };
    } finally {
      await server.stop();
    }
  },
};
