/**
 * `mooring run -- COMMAND`: the command as it is, with Mooring preloaded into each Node process that it starts.
 * Owns: the child, its signals and its exit code. Refuses: to change anything else of its surroundings.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { withPreload } from './node-options.js';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** What a shell answers for a command that it cannot find, or cannot start. */
const NOT_FOUND = 127;
const NOT_STARTED = 126;

/** Resolves with the exit code of the command, 128 + n when a signal ended it. */
export function runCommand(command: readonly string[]): Promise<number> {
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
