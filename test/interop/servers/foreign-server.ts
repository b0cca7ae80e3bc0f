/**
 * A server in another language as a child process: what it says of each request, and what it counts itself.
 * Owns: the process, restarting it on the same port. Refuses: to know which SDK it is made of.
 * Contract: JSON lines on stdout (`listening` with `url`, `get-opened`, `request` with method, rpc, status), GET
 * /count beside the endpoint, `{ sessions, runs }`; it ends with its stdin.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { until } from '../../support/until.js';

export interface SeenRequest {
  method: string;
  rpc: string;
  status: number;
}

export interface ForeignServer {
  readonly url: string;
  /** Requests that are over, in the order of their ends. */
  readonly requests: readonly SeenRequest[];
  readonly getsOpened: number;
  count(wanted: Partial<SeenRequest>): number;
  /** What the server's own SDK holds, and how often a tool ran by key, since its last start. */
  counted(): Promise<{ sessions: number; runs: Record<string, number> }>;
  /** SIGKILL, and the same again on the same port: it knows nobody any more. */
  restart(): Promise<void>;
}

/** `command` is given `--addr=HOST:PORT` for where to listen. */
export async function startForeignServer(
  t: TestContext,
  [file, ...args]: readonly [string, ...string[]],
): Promise<ForeignServer> {
  const requests: SeenRequest[] = [];
  let getsOpened = 0;
  let url: string | undefined;
  let child: ChildProcessByStdio<Writable, Readable, Readable> | undefined;
  let stderr = '';

  const start = async (): Promise<void> => {
    const where = url === undefined ? '127.0.0.1:0' : new URL(url).host;
    const started = spawn(file, [...args, `--addr=${where}`], { stdio: ['pipe', 'pipe', 'pipe'] });
    child = started;
    let isListening = false;
    let failure: Error | undefined;
    started.once('error', (error) => (failure = error));
    started.stdin.on('error', () => {});
    started.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    createInterface({ input: started.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as { event: string; url?: string } & SeenRequest;
      if (said.event === 'listening') {
        url = said.url;
        isListening = true;
      } else if (said.event === 'get-opened') getsOpened += 1;
      else requests.push(said);
    });
    await until(
      `${file} to listen\n${stderr}`,
      () => isListening || failure !== undefined || started.exitCode !== null,
      {
        timeoutMs: 20_000,
      },
    );
    if (!isListening) throw new Error(`${file} did not start: ${failure?.message ?? ''} ${stderr}`);
  };
  const stop = async (): Promise<void> => {
    const running = child;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await gone;
  };

  await start();
  t.after(stop);
  return {
    get url() {
      return url ?? '';
    },
    requests,
    get getsOpened() {
      return getsOpened;
    },
    count: (wanted) =>
      requests.filter((seen) =>
        Object.entries(wanted).every(([name, value]) => seen[name as keyof SeenRequest] === value),
      ).length,
    counted: async () =>
      (await (await fetch(new URL('/count', url))).json()) as {
        sessions: number;
        runs: Record<string, number>;
      },
    async restart() {
      await stop();
      await start();
    },
  };
}
