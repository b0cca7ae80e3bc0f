/**
 * The options of one command, read strictly: citty lets unknown ones pass, and keeps only the last of a repeated one.
 * Owns: what counts as wrong usage.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The user asked for something that there is not; the message says what. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/**
 * The values of `options`, as node:util's parseArgs gives them. Nothing may stand beside them.
 * @throws UsageError
 */
export function readFlags<const T extends NonNullable<ParseArgsConfig['options']>>(
  rawArgs: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ options: T; strict: true; allowPositionals: false }>>['values'] {
  try {
    return parseArgs({ args: [...rawArgs], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? firstSentence(error.message) : String(error));
  }
}

function firstSentence(text: string): string {
  return text.split(/\. (?=[A-Z])/)[0] ?? text;
}
