/**
 * Runs a real agent against a scripted model and an MCP server that records, and says what the server saw.
 * Owns: both servers, the agent's home, its process group.
 * Refuses: to know which agent it runs, and to judge.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGate } from '../../support/mock-model/script.js';
import type { Turn } from '../../support/mock-model/script.js';
import { startMockModel } from '../../support/mock-model/server.js';
import { startSdkServer } from '../../support/sdk-server.js';
import type { SdkServer } from '../../support/sdk-server.js';
import { pause, until } from '../../support/until.js';
import { installed, nodeFor } from './agents.js';
import type { Agent } from './agents.js';

export interface DriveOptions {
  agent: Agent;
  /** A command in front of the agent's, for instance `node dist/cli/main.js run --`. */
  prefix?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** What the model says. `server` may be restarted by a turn. */
  turns(server: SdkServer): Turn[];
  /** Sent to the agent's process group, as a terminal does, when the turn after `turns` is held. */
  signal?: NodeJS.Signals;
  /** One that an earlier run has left something at; stays the caller's. @default one of its own */
  server?: SdkServer;
}

export interface AgentRun {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** From the signal, or from the start, to the end of the last process of the group. */
  tookMs: number;
  initializes: number;
  /** GETs of the listening stream. */
  gets: number;
  deletes: number;
  /** DELETEs that the server answered with 2xx. */
  ended: number;
  /** Sessions in the server's table after the agent's end. */
  live: number;
  /** POSTs with `tools/call`, and those that were refused. */
  calls: number;
  refused: number;
  /** Keys that the tools ran for, in the order of `KEYS`, and how often. */
  runs: Readonly<Record<string, number>>;
  /** What the tools answered, as the model was told last. */
  results: readonly string[];
  modelFaults: readonly string[];
  /** Whole session ids that were printed. */
  idsPrinted: number;
}

export const KEYS = ['one', 'two'] as const;

/** The agent is slow to start on two busy cores. */
const START_MS = 60_000;
/** An agent that does not end by itself is killed after this. */
const END_MS = 30_000;
/** A DELETE that was sent before the end may still be on its way. */
const SETTLE_MS = 300;

export async function drive({
  agent,
  prefix = [],
  env = {},
  turns,
  signal,
  server: given,
}: DriveOptions): Promise<AgentRun> {
  const script = installed(agent);
  const node = nodeFor(agent);
  const server = given ?? (await startSdkServer({ major: 1 }));
  const since = server.log.now();
  const ranBefore = KEYS.map((key) => server.tools.runs(key));
  const gate = createGate();
  const held: Turn[] = signal === undefined ? [] : [{ text: 'never told', before: gate.wait }];
  const model = await startMockModel([...turns(server), ...held]);
  const home = await mkdtemp(join(tmpdir(), `mooring-${agent.name}-`));
  const around = { mcpUrl: server.url, modelOrigin: model.origin };
  try {
    for (const [path, content] of Object.entries(agent.settings(around))) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), JSON.stringify(content));
    }
    const work = join(home, 'work');
    await mkdir(work);
    const group = startGroup([...prefix, node, script, ...agent.args('Call the tools.')], work, {
      PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
      HOME: home,
      TMPDIR: home,
      NO_COLOR: '1',
      ...agent.env(around),
      ...env,
    });
    try {
      if (signal !== undefined) {
        await Promise.race([gate.reached, group.gone, sleep(START_MS, undefined, { ref: false })]);
        group.kill(signal);
      }
      const end = await group.gone;
      await pause(SETTLE_MS);
      const { log, tools } = server;
      return {
        ...end,
        initializes: log.count({ rpc: 'initialize', since }),
        gets: log.count({ method: 'GET', since }),
        deletes: log.count({ method: 'DELETE', since }),
        ended: log
          .select({ method: 'DELETE', since })
          .filter(({ status = 0 }) => status >= 200 && status < 300).length,
        live: server.sessions,
        calls: log.count({ rpc: 'tools/call', since }),
        refused: log.count({ rpc: 'tools/call', status: 404, since }),
        runs: Object.fromEntries(KEYS.map((key, at) => [key, tools.runs(key) - (ranBefore[at] ?? 0)])),
        results: model.asked.findLast((asked) => !asked.auxiliary)?.results ?? [],
        modelFaults: model.faults,
        idsPrinted: log.issued().filter((id) => `${end.stdout}${end.stderr}`.includes(id)).length,
      };
    } finally {
      group.kill('SIGKILL');
    }
  } finally {
    gate.open();
    await model.stop();
    if (given === undefined) await server.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

type GroupEnd = Pick<AgentRun, 'code' | 'signal' | 'stdout' | 'stderr' | 'tookMs'>;

interface Group {
  /** Does nothing when nobody of the group is left. */
  kill(signal: NodeJS.Signals): void;
  /** Settles when the whole group has ended: an agent may outlive the launcher that was started. */
  readonly gone: Promise<GroupEnd>;
}

function startGroup(command: readonly string[], cwd: string, env: Record<string, string>): Group {
  const [file = '', ...args] = command;
  let since = performance.now();
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const id = child.pid;
  const out = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
  const reach = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return id !== undefined && process.kill(-id, signal);
    } catch {
      return false;
    }
  };
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const watch = async (): Promise<GroupEnd> => {
    const killer = setTimeout(() => reach('SIGKILL'), START_MS + END_MS);
    try {
      const end = await exited;
      await until('the end of the agent’s process group', () => !reach(0), { timeoutMs: END_MS });
      return { ...end, ...out, tookMs: Math.round(performance.now() - since) };
    } finally {
      clearTimeout(killer);
    }
  };
  const gone = watch();
  gone.catch(() => {});
  return {
    kill(signal) {
      since = performance.now();
      reach(signal);
    },
    gone,
  };
}
