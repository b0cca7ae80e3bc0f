// Bytes for each idle live session of one way in: node --expose-gc memory-host.mjs WAY URL COUNT
import { setTimeout as sleep } from 'node:timers/promises';
import { openWay } from './ways.mjs';

const [way, url, count] = process.argv.slice(2);
// What is loaded with the first session belongs to none.
const first = await openWay(way, url, 1);
await first.call(0);

async function used() {
  for (let n = 0; n < 4; n++) {
    globalThis.gc();
    await sleep(50);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const before = await used();
const host = await openWay(way, url, Number(count));
for (let n = 0; n < Number(count); n++) await host.call(n);
// Mooring lets go of an idle session's stream after 10 s; the bare library holds it for good.
await sleep(11_000);
const after = await used();
process.stdout.write(`${JSON.stringify({ bytes: Math.round((after - before) / Number(count)) })}\n`);
await host.close();
await first.close();
process.exit(0);
