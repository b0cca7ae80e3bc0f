/** The demo's command line. */
import { parseArgs } from 'node:util';
import { BREAKS } from './breaks.js';
import type { Break } from './breaks.js';
import type { Major } from './wiring.js';

export const HELP = `Lives a working day of an agent host, in small, twice: with the official SDK as
hosts wire it today, and with Mooring. Only the wiring differs, and both columns
come from the server's own log. Takes less than half a minute.

  npm run demo                       the table
  npm run -s demo -- --json          {"before": {...}, "after": {...}} on stdout
  npm run demo -- --sdk 2            the host uses major 2 of the SDK, not 1
  npm run demo -- --break no-delete  what the table looks like when no DELETE
                                     reaches the server
  npm run demo -- --break no-404     ... when a refused session is not noticed

Exit codes: 0 when Mooring's column shows what it promises, 1 when it does not,
2 for a wrong command line. Progress goes to stderr; NO_COLOR is honoured.
`;

export interface DemoArgs {
  help: boolean;
  json: boolean;
  major: Major;
  broken: Break | undefined;
}

/** The command line is wrong; the message says what. */
export class UsageError extends Error {}

/** Throws a {@link UsageError}. */
export function parseDemoArgs(argv: readonly string[]): DemoArgs {
  const values = read(argv);
  if (values.sdk !== '1' && values.sdk !== '2') throw new UsageError(`--sdk takes 1 or 2, not ${values.sdk}`);
  const broken = BREAKS.find((name) => name === values.break);
  if (values.break !== undefined && broken === undefined) {
    throw new UsageError(`--break takes ${BREAKS.join(' or ')}, not ${values.break}`);
  }
  return { help: values.help, json: values.json, major: values.sdk === '2' ? 2 : 1, broken };
}

function read(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        sdk: { type: 'string', default: '1' },
        break: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
