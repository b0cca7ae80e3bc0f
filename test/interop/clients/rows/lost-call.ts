/**
 * The connection is lost after a call was sent: the tool ran, and nobody heard its answer.
 */
import { startFaultyServer } from '../../../support/faulty-server.js';
import { pause } from '../../../support/until.js';
import type { Row } from './row.js';

/** A library that repeats the call does so at once, or nearly. */
const SETTLE_MS = 3_000;

export const lostCall: Row = {
  id: 'lost-call',
  title: 'The connection is lost while a tool with a side effect runs',
  wanted: 'ran once, an error',
  async measure(host) {
    const server = await startFaultyServer();
    try {
      const client = await host.open(server.url);
      server.faults.calls.push({ kind: 'destroy' });
      const { error, isDone } = await client.call('lost');
      await pause(SETTLE_MS);
      const runs = server.tools.runs('lost');
      const told = !isDone ? 'no answer' : error === undefined ? 'a result' : 'an error';
      await client.close();
      return {
        text: `ran ${runs === 1 ? 'once' : `${runs} times`}, ${told}`,
        good: runs === 1 && isDone && error !== undefined,
      };
    } finally {
      await server.stop();
    }
  },
};
