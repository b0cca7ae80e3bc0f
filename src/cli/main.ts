#!/usr/bin/env node
/**
 * The command `mooring`: which commands there are, and the exit code.
 * Refuses: to know anything of what a command does; each has a file of its own, loaded when it is asked for.
 */
import { type Commands, runCommands } from './commands.js';

const commands: Commands = {
  run: async () => (await import('./run.js')).run,
  env: async () => (await import('./env.js')).env,
  reclaim: async () => (await import('./reclaim.js')).reclaim,
};

process.exitCode = await runCommands(commands, process.argv.slice(2));
