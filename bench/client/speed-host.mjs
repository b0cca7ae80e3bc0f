// One way in, told to work: node speed-host.mjs WAY URL
import { createInterface } from 'node:readline';
import { openWay } from './ways.mjs';

const [way, url] = process.argv.slice(2);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const host = await openWay(way, url, 1);

/** Calls a second, with so many under way at any moment. */
async function measure({ concurrency, ms }) {
  let calls = 0;
  const start = performance.now();
  const worker = async () => {
    while (performance.now() - start < ms) {
      await host.call(0);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { perSecond: calls / ((performance.now() - start) / 1_000) };
}

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) say(await measure(JSON.parse(line)));
await host.close();
process.exit(0);
