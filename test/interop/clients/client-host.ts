/**
 * A child process that uses a client library, and its clients by name.
 * Owns: the orders to host.mjs and their outcomes, each with a deadline.
 * Refuses: to judge: an error, and an order that is never done, are outcomes like others.
 */
import { fileURLToPath } from 'node:url';
import { spawnHost } from '../../support/child.js';
import type { ChildEnd } from '../../support/child.js';
import { pause } from '../../support/until.js';
import type { Library, Way } from './libraries.js';

/** What became of an order, as the child tells it. */
export interface Outcome {
  value?: unknown;
  error?: string;
  /** How long it took, in the child. The deadline when it was not done. */
  ms: number;
  isDone: boolean;
}

export interface LibraryClient {
  list(): Promise<Outcome>;
  /** Calls a tool that counts, and is done when the tool's own answer came back. */
  call(key: string): Promise<Outcome>;
  close(): Promise<Outcome>;
  /** The order to open it. */
  readonly opened: Promise<Outcome>;
}

export interface ClientHost {
  /** Begins to open a client, and waits for nothing. */
  begin(url: string): LibraryClient;
  /** Opens a client and calls a tool once; throws when the library cannot. */
  open(url: string): Promise<LibraryClient>;
  /** Nothing more will be asked: it may end by itself. */
  done(): void;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<ChildEnd>;
  readonly stderr: string;
  stop(): Promise<void>;
}

/** The preload that `mooring run` puts into NODE_OPTIONS. */
const PRELOAD = fileURLToPath(new URL('../../../dist/client/register/preload.cjs', import.meta.url));
/** A library is slow to load on two busy cores. */
const START_MS = 60_000;
/** Of an order. What hangs in the rows is a close; a busy machine makes the others slow. */
const DEADLINES = { open: 60_000, list: 30_000, call: 30_000, close: 8_000 };

/** The line that host.mjs says when an order is done. */
type Told = Record<string, unknown> & { value: unknown; error?: string; ms: number };

export async function startClientHost({ folder }: Library, way: Way): Promise<ClientHost> {
  const child = spawnHost('../../interop/clients/host.mjs', {
    args: [folder, way],
    nodeArgs: [
      '--experimental-import-meta-resolve',
      '--no-warnings',
      ...(way === 'register' ? ['--require', PRELOAD] : []),
    ],
    env: { MCP_USE_ANONYMIZED_TELEMETRY: 'false' },
  });
  let orders = 0;
  const order = async (what: Record<string, unknown> & { do: keyof typeof DEADLINES }): Promise<Outcome> => {
    const id = ++orders;
    const deadline = DEADLINES[what.do];
    child.tell(JSON.stringify({ id, ...what }));
    try {
      const { value, error, ms } = (await child.event(`done ${id}`, deadline)) as Told;
      return {
        value,
        ms: Number(ms),
        isDone: true,
        ...(error === undefined ? {} : { error }),
      };
    } catch {
      return { error: `not done in ${deadline} ms`, ms: deadline, isDone: false };
    }
  };
  let clients = 0;
  const client = (url: string): LibraryClient => {
    const as = `client ${++clients}`;
    return {
      opened: order({ do: 'open', as, url }),
      list: () => order({ do: 'list', as }),
      call: (key) => order({ do: 'call', as, key }),
      close: () => order({ do: 'close', as }),
    };
  };
  try {
    await child.event('ready', START_MS);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    begin: client,
    async open(url) {
      const opened = client(url);
      const error = (await opened.opened).error ?? (await opened.call('first')).error;
      if (error !== undefined) throw new Error(`${folder}, ${way}: cannot open: ${error}\n${child.stderr}`);
      return opened;
    },
    done: () => child.tell(JSON.stringify({ id: 0, do: 'done' })),
    kill: (signal) => child.kill(signal),
    ended: child.ended,
    get stderr() {
      return child.stderr;
    },
    async stop() {
      child.kill('SIGTERM');
      await Promise.race([child.ended, pause(3_000)]);
      await child.stop();
    },
  };
}
