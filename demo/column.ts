/**
 * Runs one column: a server, the host as its child, the day, SIGTERM, and the tally of the server's log.
 * Owns: both processes' lives; when it returns or throws, neither is left.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Break } from './breaks.js';
import { MINUTE_MS, planDay, plannedKeys } from './day.js';
import type { DayFacts } from './report.js';
import { startDemoServer } from './server.js';
import { tally } from './tally.js';
import type { Tally } from './tally.js';
import type { Major } from './wiring.js';

export interface ColumnOptions {
  wiring: 'sdk' | 'mooring';
  major: Major;
  broken?: Break | undefined;
  /** One line of progress. */
  progress: (text: string) => void;
}

/** The day may take this long; then the host is killed. */
const DAY_DEADLINE_MS = 25_000;
/** After SIGTERM. */
const END_DEADLINE_MS = 5_000;

export async function runColumn(options: ColumnOptions): Promise<{ figures: Tally; facts: DayFacts }> {
  const server = await startDemoServer();
  // The demo writes nothing into the state of whoever tries it.
  const ledger = mkdtempSync(join(tmpdir(), 'mooring-demo-'));
  const host = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      'demo/host.ts',
      options.wiring,
      server.origin,
      String(options.major),
      options.broken ?? '',
    ],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, MOORING_LEDGER_DIR: ledger },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  let late = false;
  const killAfter = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      late = true;
      host.kill('SIGKILL');
    }, ms);
  let deadline = killAfter(DAY_DEADLINE_MS);
  const ended = new Promise<string>((resolve, reject) => {
    host.once('error', reject);
    host.once('close', (code, signal) =>
      resolve(late ? 'it was too late, SIGKILL' : (signal ?? `exit ${code}`)),
    );
  });
  try {
    for await (const line of createInterface({ input: host.stdout })) {
      const message = JSON.parse(line) as { event: string; text?: string; key?: string };
      if (message.event === 'say') options.progress(message.text ?? '');
      if (message.event === 'expire') {
        server.expire(message.key ?? '');
        host.stdin.write('go\n');
      }
      if (message.event === 'evening') {
        clearTimeout(deadline);
        deadline = killAfter(END_DEADLINE_MS);
        host.kill('SIGTERM');
      }
    }
    const hostEnd = await ended;
    const figures = tally({
      entries: server.log.entries,
      lives: server.lives,
      peakSockets: server.peakSockets,
      liveAtEnd: server.live,
      until: server.log.now(),
      minuteMs: MINUTE_MS,
      plannedKeys: plannedKeys(planDay()),
      runs: server.runs,
    });
    const expiredByServer = server.lives.filter((life) => life.endedBy === 'server').length;
    return { figures, facts: { expiredByServer, hostEnd } };
  } finally {
    clearTimeout(deadline);
    if (host.exitCode === null && host.signalCode === null) host.kill('SIGKILL');
    await server.stop();
    rmSync(ledger, { recursive: true, force: true });
  }
}
