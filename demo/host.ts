/**
 * The host: a process of its own that lives the day and ends by SIGTERM. It does not know which wiring it has.
 * Speaks JSON lines with its parent: what it says on stdout, `go` on stdin when it may go on.
 */
import { createInterface } from 'node:readline';
import { BREAKS } from './breaks.js';
import { MORNING, planDay } from './day.js';
import type { Step } from './day.js';
import { loadSdk } from './sdk.js';
import type { ServerUrls, Wiring } from './wiring.js';

const [column, origin = '', major, broken] = process.argv.slice(2);
const stdin = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const urls = (names: readonly string[]): ServerUrls =>
  Object.fromEntries(names.map((name) => [name, `${origin}/${name}`]));
// Whoever started us has gone: there is nobody to live the day for.
process.stdout.on('error', () => process.exit(1));
const say = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** Loads only the wiring that is asked for. */
async function wire(name: string | undefined): Promise<Wiring> {
  const servers = urls(MORNING);
  if (name === 'sdk') return (await import('./wiring-sdk.js')).wireSdk(sdk, servers);
  const { wireMooring } = await import('./wiring-mooring.js');
  return wireMooring(
    sdk,
    servers,
    BREAKS.find((known) => known === broken),
  );
}

async function live(wiring: Wiring, step: Step): Promise<void> {
  switch (step.do) {
    case 'connect':
      return wiring.connect(step.agent);
    case 'call':
      return wiring.call(step.agent, step.server, step.key);
    case 'end':
      return wiring.end(step.agent);
    case 'reload':
      return wiring.reload(urls(step.servers));
    case 'expire':
      say({ event: 'expire', key: step.key });
      await stdin.next();
      return;
    case 'wait':
      await new Promise((resolve) => setTimeout(resolve, step.ms));
      return;
    case 'say':
      say({ event: 'say', text: step.text });
  }
}

const sdk = await loadSdk(major === '2' ? 2 : 1);
const wiring = await wire(column);
for (const step of planDay()) {
  // A host goes on when a call fails; what failed is counted at the server.
  await live(wiring, step).catch((error: unknown) => say({ event: 'failed', text: String(error) }));
}
say({ event: 'evening' });
// Waits for its SIGTERM, with its sessions open.
await stdin.next();
