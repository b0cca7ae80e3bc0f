/**
 * What happens to an agent while it is driven, row by row, the same for every agent and both ways of starting it.
 * Owns: the rows, their scripts, the command in front. Refuses: to judge; the tests and the table do.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Turn } from '../../support/mock-model/script.js';
import { startSdkServer } from '../../support/sdk-server.js';
import type { SdkServer } from '../../support/sdk-server.js';
import type { Agent } from './agents.js';
import { drive } from './drive.js';
import type { AgentRun, KEYS } from './drive.js';

/** `bare`: as its maker says. `run`: the same with `mooring run --` in front. */
export type Way = 'bare' | 'run';

export interface Row {
  readonly id: string;
  readonly title: string;
  measure(agent: Agent, way: Way): Promise<AgentRun>;
}

type Key = (typeof KEYS)[number];

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const PREFIX: Record<Way, readonly string[]> = { bare: [], run: [process.execPath, MAIN, 'run', '--'] };

const call = (key: Key, before?: () => void | Promise<void>): Turn => ({
  calls: [{ name: 'count', args: { key } }],
  ...(before === undefined ? {} : { before }),
});
const SAID: Turn = { text: 'Done.' };

/** Two calls; `between` comes when the model has the answer of the first. */
function twoCalls(
  id: string,
  title: string,
  between?: (server: SdkServer) => void | Promise<void>,
  env: Record<string, string> = {},
): Row {
  return {
    id,
    title,
    measure: (agent, way) =>
      drive({
        agent,
        prefix: PREFIX[way],
        env,
        turns: (server) => [
          call('one'),
          call('two', between === undefined ? undefined : () => between(server)),
          SAID,
        ],
      }),
  };
}

function signalled(signal: NodeJS.Signals): Row {
  return {
    id: signal.toLowerCase(),
    title: signal,
    measure: (agent, way) => drive({ agent, prefix: PREFIX[way], turns: () => [call('one')], signal }),
  };
}

/** One run is killed in the middle, with all its processes; the next is what is reported. */
const killed: Row = {
  id: 'sigkill',
  title: 'SIGKILL, then the same command again',
  async measure(agent, way) {
    const server = await startSdkServer({ major: 1 });
    // Each run has a home of its own; a user's is one.
    const ledger = await mkdtemp(join(tmpdir(), 'mooring-ledger-'));
    const common = { agent, prefix: PREFIX[way], env: { MOORING_LEDGER_DIR: ledger }, server };
    try {
      await drive({ ...common, turns: () => [call('one')], signal: 'SIGKILL' });
      return await drive({ ...common, turns: () => [call('one'), SAID] });
    } finally {
      await server.stop();
      await rm(ledger, { recursive: true, force: true });
    }
  },
};

export const ROWS = {
  end: twoCalls('end', 'The agent has answered and ends', undefined, { MOORING_LOG: '1' }),
  sigint: signalled('SIGINT'),
  sigterm: signalled('SIGTERM'),
  sighup: signalled('SIGHUP'),
  restart: twoCalls('restart', 'The server was restarted between two calls', (server) => server.restart()),
  expire: twoCalls('expire', 'The session expired between two calls', (server) => server.expireAll()),
  sigkill: killed,
} as const satisfies Record<string, Row>;

/** Two agents at once are what two cores can bear. */
export async function measureBoth(agent: Agent, row: Row): Promise<Record<Way, AgentRun>> {
  const [bare, run] = await Promise.all([row.measure(agent, 'bare'), row.measure(agent, 'run')]);
  return { bare, run };
}

/** As a shell tells it. */
export function exitCode({ code, signal }: AgentRun): number {
  return signal === null ? (code ?? -1) : 128 + constants.signals[signal];
}
