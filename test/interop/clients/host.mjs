/**
 * A program that uses one client library, told over stdin what to do with it, a JSON line each:
 *   node host.mjs LIBRARY WAY
 * Owns: the clients by name, one line back for each order. With the way `createFetch` each client gets one.
 * Refuses: to recover, to retry, to end anything unasked: what is seen is the library, and Mooring where it is used.
 */
import { createInterface } from 'node:readline';

const [library, way] = process.argv.slice(2);
const say = (event, more = {}) => process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);
const { createFetch } = way === 'createFetch' ? await import('mooring/client') : {};

// Each library is installed for its recipe, in the version that the recipe names.
const recipe = new URL(`../../../recipes/${library}/`, import.meta.url);
const load = (specifier) => import(import.meta.resolve(specifier, recipe));
const { driver } = await import(`./drivers/${library}.mjs`);
const connect = await driver(load);

const clients = new Map();
/** A call counts when the tool's own words came back: libraries hand on an error as a result, too. */
const count = async (client, key) => {
  const [first] = await client.call('count', { key });
  if (first?.text !== `counted ${key}`) throw new Error(`not counted: ${first?.text}`);
};

const orders = {
  open({ as, url }) {
    const client = connect({ url, fetch: createFetch?.() });
    clients.set(as, client);
    return client.opened.then(() => {});
  },
  list: ({ as }) => clients.get(as).list(),
  call: ({ as, key }) => count(clients.get(as), key),
  close: ({ as }) => clients.get(as).close(),
  /** Nothing more will be asked of this program. */
  done() {
    input.close();
    process.stdin.destroy();
  },
};

// What a library leaves unhandled in one row must not end the others; it is told with the row's end.
process.on('unhandledRejection', (reason) => say('unhandled', { message: String(reason) }));

async function obey(line) {
  const order = JSON.parse(line);
  const started = performance.now();
  let outcome;
  try {
    outcome = { value: (await orders[order.do](order)) ?? null };
  } catch (error) {
    outcome = { error: String(error?.message ?? error) };
  }
  say(`done ${order.id}`, { ...outcome, ms: performance.now() - started });
}

const input = createInterface({ input: process.stdin });
input.on('line', (line) => void obey(line));
say('ready');
