/**
 * `mooring run -- COMMAND`: the command as it is, with Mooring preloaded into each Node process that it starts.
 * Owns: the child, its signals and its exit code. Refuses: to change anything else of its surroundings.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { defineCommand } from 'citty';
import { UsageError } from './flags.js';
import { withPreload } from './node-options.js';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What a shell answers for a command that it cannot find, or cannot start. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;

export const run = defineCommand({
  meta: {
    name: 'run',
    description:
      'Runs a command with Mooring in each Node process that it starts: mooring run -- COMMAND [ARGS]. ' +
      'Environment: MOORING_OFF, MOORING_LOG, MOORING_LISTEN, MOORING_STREAM_IDLE_MS, MOORING_MAX_SESSIONS, ' +
      'MOORING_LEDGER_DIR',
  },
  run({ rawArgs }) {
    const [separator, ...command] = rawArgs;
    if (separator !== '--' || command.length === 0) {
      throw new UsageError('the command comes after --, like: mooring run -- gemini -p hello');
    }
    return runUnderMooring(command);
  },
});

/** Resolves with the exit code of the command, 128 + n when a signal ended it. */
function runUnderMooring(command: readonly string[]): Promise<number> {
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      stdio: 'inherit',
      env: { ...process.env, NODE_OPTIONS: withPreload(process.env.NODE_OPTIONS) },
    });
    // A terminal sends its signals to both of us. The second of two would tell the child to hurry.
    const isTold = process.stdin.isTTY === true;
    const listeners = FORWARDED.map((signal) => {
      const listener = (): void => {
        if (signal === 'SIGTERM' || !isTold) child.kill(signal);
      };
      process.on(signal, listener);
      return [signal, listener] as const;
    });
    const finish = (code: number): void => {
      for (const [signal, listener] of listeners) process.off(signal, listener);
      resolve(code);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      process.stderr.write(
        isMissing
          ? `mooring run: there is no command ${file}; write it as in a shell, after --\n`
          : `mooring run: ${file} could not be started: ${error.message}\n`,
      );
      finish(isMissing ? NOT_FOUND : NOT_STARTED);
    });
    child.once('exit', (code, signal) =>
      finish(signal === null ? (code ?? 1) : 128 + constants.signals[signal]),
    );
  });
}
