// Calls a second through each way in, interleaved with the bare library: the order turns with each round.
import { median, startChild, startServer } from '../child.mjs';
import { nodeArgsOf, WAYS } from './ways.mjs';

const ROUNDS = 5;
const CONCURRENCY = [1, 16, 64];

export async function speed({ seconds, preload, progress }) {
  const server = await startServer();
  const hosts = new Map();
  for (const way of WAYS) {
    const host = startChild('./client/speed-host.mjs', [way, server.url], {
      nodeArgs: nodeArgsOf(way, preload),
    });
    await host.next();
    await host.ask({ concurrency: 16, ms: 500 });
    hosts.set(way, host);
  }
  const rows = [];
  for (const concurrency of CONCURRENCY) {
    const measured = new Map(WAYS.map((way) => [way, []]));
    for (let round = 0; round < ROUNDS; round++) {
      progress(`speed, concurrency ${concurrency}, round ${round + 1} of ${ROUNDS}`);
      for (let n = 0; n < WAYS.length; n++) {
        const way = WAYS[(n + round) % WAYS.length];
        const { perSecond } = await hosts.get(way).ask({ concurrency, ms: (seconds * 1_000) / ROUNDS });
        measured.get(way).push(perSecond);
      }
    }
    const bare = measured.get('bare');
    for (const way of WAYS) {
      const values = measured.get(way);
      rows.push({
        concurrency,
        way,
        perSecond: Math.round(median(values)),
        // Of each round: what a noisy machine does to one it does to the other.
        ratioToBare: Number(median(values.map((value, round) => value / bare[round])).toFixed(2)),
      });
    }
  }
  for (const host of hosts.values()) await host.stop();
  await server.stop();
  return rows;
}
