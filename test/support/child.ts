/**
 * A host as a child process: what it printed (one JSON value a line), and how it ended.
 * Owns: the child; `stop()` kills it by its pid when it still runs.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface ChildEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Milliseconds from `kill()`, or from the start when nobody called it. */
  afterMs: number;
}

export interface HostChild {
  readonly pid: number;
  /** Every JSON line so far. */
  readonly lines: readonly Record<string, unknown>[];
  readonly stderr: string;
  /** The first line with this `event`, also one that was printed before. Fails when the child ends without it. */
  event(name: string, timeoutMs?: number): Promise<Record<string, unknown>>;
  /** Writes a line to the child's stdin. */
  tell(line: string): void;
  kill(signal: NodeJS.Signals): void;
  /** Settles when the child has ended and its pipes are read. */
  readonly ended: Promise<ChildEnd>;
  stop(): Promise<void>;
}

export interface SpawnHostOptions {
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** A command in front of node, for instance `unshare --pid`. */
  prefix?: readonly string[];
  nodeArgs?: readonly string[];
}

/** No host ends what another one left, unless its test says so. */
function ownLedger(): string {
  return join(process.env.MOORING_LEDGER_DIR ?? join(tmpdir(), 'mooring-test-ledger'), randomUUID());
}

/** `file` is relative to test/fixtures/hosts/. */
export function spawnHost(file: string, options: SpawnHostOptions = {}): HostChild {
  const path = fileURLToPath(new URL(`../fixtures/hosts/${file}`, import.meta.url));
  const command = [
    ...(options.prefix ?? []),
    process.execPath,
    ...(options.nodeArgs ?? []),
    path,
    ...(options.args ?? []),
  ];
  const started = performance.now();
  let killedAt: number | undefined;
  const child = spawn(command[0] as string, command.slice(1), {
    env: { ...process.env, MOORING_LEDGER_DIR: ownLedger(), ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const check of [...waiting]) check();
  };
  let stderr = '';
  let over = false;
  child.stdin.on('error', () => {});
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) lines.push(JSON.parse(line) as Record<string, unknown>);
    wake();
  });
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      over = true;
      wake();
      resolve({ code, signal, afterMs: performance.now() - (killedAt ?? started) });
    });
  });
  ended.catch(() => {});
  return {
    pid: child.pid ?? -1,
    lines,
    get stderr() {
      return stderr;
    },
    event: (name, timeoutMs = 10_000) =>
      new Promise((resolve, reject) => {
        const finish = (settle: () => void): void => {
          clearTimeout(timer);
          waiting.delete(check);
          settle();
        };
        const check = (): void => {
          const found = lines.find((line) => line.event === name);
          if (found !== undefined) finish(() => resolve(found));
          else if (over) finish(() => reject(new Error(`${file} ended without "${name}"\n${stderr}`)));
        };
        const timer = setTimeout(
          () => finish(() => reject(new Error(`${file}: no "${name}" in ${timeoutMs} ms\n${stderr}`))),
          timeoutMs,
        );
        waiting.add(check);
        check();
      }),
    tell: (line) => void child.stdin.write(`${line}\n`),
    kill(signal) {
      killedAt = performance.now();
      child.kill(signal);
    },
    ended,
    async stop() {
      if (!over) child.kill('SIGKILL');
      await ended.catch(() => {});
    },
  };
}
