/**
 * Finding and running one command: help, version, usage faults, exit codes.
 * Owns: 0 fine, 1 a command's own failure, 2 usage. A command's `run` returns its exit code.
 * Refuses: colours where NO_COLOR is set or nobody looks; to print anything but help on stdout.
 */
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from 'citty';
import { UsageError } from './flags.js';

// oxlint-disable-next-line typescript/no-explicit-any -- each command has arguments of its own
type AnyCommand = CommandDef<any>;

/** Name -> how to load it. */
export type Commands = Readonly<Record<string, () => Promise<AnyCommand>>>;

export const EXIT_FINE = 0;
export const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Resolves with the exit code. Never rejects for what a user does wrong. */
export async function runCommands(commands: Commands, argv: readonly string[]): Promise<number> {
  const root = defineCommand({
    meta: {
      name: 'mooring',
      version: version(),
      description: 'Keeps MCP Streamable HTTP sessions from leaking',
    },
    subCommands: { ...commands },
  });
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${version()}\n`);
    return EXIT_FINE;
  }
  if (name === undefined || name === '--help' || name === '-h') {
    await showHelp(root, undefined, name === undefined ? process.stderr : process.stdout);
    return name === undefined ? EXIT_USAGE : EXIT_FINE;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) return usageFault(`there is no command ${name}`, 'mooring --help');
  const command = await load();
  if (asksForHelp(rest)) {
    await showHelp(command, root, process.stdout);
    return EXIT_FINE;
  }
  try {
    const { result } = await runCommand(command, { rawArgs: rest });
    return typeof result === 'number' ? result : EXIT_FINE;
  } catch (error) {
    // citty's own name for an argument that is missing or not one of the allowed.
    const isUsage = error instanceof UsageError || (error instanceof Error && error.name === 'CLIError');
    if (isUsage) return usageFault(error.message, `mooring ${name} --help`);
    process.stderr.write(`mooring ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT_FAILED;
  }
}

/** What follows `--` belongs to another command. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).some((arg) => arg === '--help' || arg === '-h');
}

async function showHelp<T extends ArgsDef>(
  command: CommandDef<T>,
  parent: CommandDef | undefined,
  stream: NodeJS.WriteStream,
): Promise<void> {
  const text = await renderUsage(command, parent as CommandDef<T> | undefined);
  const isColoured = stream.isTTY && (process.env.NO_COLOR ?? '') === '';
  stream.write(`${isColoured ? text : stripVTControlCharacters(text)}\n`);
}

function usageFault(text: string, help: string): number {
  process.stderr.write(`mooring: ${stripVTControlCharacters(text)}; see ${help}\n`);
  return EXIT_USAGE;
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
