/**
 * The structure of src/ that the project keeps to, as rules over a map of file names to sources.
 * Owns: the layers, who may import whom, which packages, who may read the time, print or exit.
 * Refuses: to read the disk, so that a planted violation can be tried.
 */
import { posix } from 'node:path';
import { blankText, importsOf, lineAt } from './source-text.js';

/** Path below src/ with forward slashes -> source. */
export type Sources = Readonly<Record<string, string>>;

export interface Violation {
  file: string;
  line: number;
  rule: string;
}

/** From the bottom up. A file imports from its own layer's folder and from layers above it in this list. */
const LAYERS: readonly (readonly string[])[] = [
  ['errors.ts'],
  ['clock.ts'],
  ['events.ts'],
  ['protocol'],
  ['session'],
  ['client', 'guard', 'gateway', 'audit', 'check', 'telemetry'],
  ['cli'],
];
const ENTRY_LAYER = LAYERS.length;

/** The library's dependencies; what a command needs beside them belongs to `gateway`, `audit`, `check` and `cli`. */
const LIBRARY_PACKAGES = ['eventsource-parser', 'undici', 'zod'];
const LIBRARY_PARTS = ['errors.ts', 'clock.ts', 'events.ts', 'protocol', 'session', 'client', 'guard'];

/** protocol/ is pure. */
const IO_BUILTINS =
  /^node:(?:fs|net|tls|https?|http2|dgram|dns|child_process|worker_threads|cluster)(?:\/|$)/;

const READS_TIME =
  /(?<![.\w])(?:setTimeout|setInterval)\s*\(|\bDate\.now\b|\bperformance\.now\b|\bprocess\.hrtime\b|\bnew Date\(\s*\)|\bAbortSignal\.timeout\b/g;
const PRINTS_OR_EXITS =
  /(?<![.\w])console\.|\bprocess\.(?:stdout|stderr|exit|abort|kill|reallyExit)\b|\bprocess\.exitCode\s*=[^=]/g;

/** Files that may read the time or set timers, and why. */
const MAY_READ_TIME: Readonly<Record<string, string>> = {
  'clock.ts': 'it is the clock',
  'client/process-hooks.ts':
    'timers that must keep the process, or must not: PID 1 has no default action for signals',
};
/** Files outside cli/ that may print or exit, and why. */
const MAY_PRINT_OR_EXIT: Readonly<Record<string, string>> = {
  'client/process-hooks.ts': 'it raises a signal again after it has released everything',
  'session/outbound/ledger/owner.ts': 'kill(pid, 0) asks whether a process lives, where there is no /proc',
  'client/register/log.ts': 'MOORING_LOG=1 asks for it',
};

/** The part of src/ that a file belongs to: its top folder, or its own name at the top. */
function partOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file;
}

function layerOf(part: string): number {
  const layer = LAYERS.findIndex((parts) => parts.includes(part));
  if (layer !== -1) return layer;
  return part.endsWith('.ts') ? ENTRY_LAYER : -1;
}

function importRule(file: string, specifier: string): string | undefined {
  const part = partOf(file);
  if (!specifier.startsWith('.')) {
    if (specifier.startsWith('node:')) {
      return part === 'protocol' && IO_BUILTINS.test(specifier)
        ? `protocol is pure, and imports ${specifier}`
        : undefined;
    }
    const name = specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/');
    return LIBRARY_PARTS.includes(part) && !LIBRARY_PACKAGES.includes(name)
      ? `${part} may import node:, ${LIBRARY_PACKAGES.join(', ')}, not ${specifier}`
      : undefined;
  }
  const target = posix.join(posix.dirname(file), specifier);
  if (target.startsWith('..'))
    return specifier.endsWith('package.json') ? undefined : `imports ${specifier}, outside src/`;
  const targetPart = partOf(target.replace(/\.js$/, '.ts'));
  if (targetPart === part) return undefined;
  const [from, to] = [layerOf(part), layerOf(targetPart)];
  if (to > from || to === -1) return `${part} is below ${targetPart} and imports it`;
  // Of the parts that stand side by side none imports another: what two of them need belongs to session/.
  if (to === from) return `${part} and ${targetPart} stand side by side, and one imports the other`;
  return undefined;
}

function nameRule(file: string): string | undefined {
  const bad = file
    .split('/')
    .find((segment) => /^_?(?:utils?|helpers?|misc|common|types)(?:\.ts)?$/.test(segment));
  if (bad !== undefined) return `${bad} says nothing about what is in it`;
  return layerOf(partOf(file)) === -1
    ? `src/${partOf(file)}/ has no place in the order of layers`
    : undefined;
}

const NAMED_REEXPORT = /\bexport\s+(?:type\s+)?\{[^}]*\}\s*from\s*(["'])\s*\1\s*;?/g;

/** Every breach of the rules in these sources. */
export function violations(sources: Sources): Violation[] {
  const found: Violation[] = [];
  for (const [file, source] of Object.entries(sources)) {
    const code = blankText(source);
    const add = (offset: number, rule: string): number =>
      found.push({ file, line: lineAt(source, offset), rule });
    const name = nameRule(file);
    if (name !== undefined) add(0, name);
    for (const { specifier, line } of importsOf(source)) {
      const rule = importRule(file, specifier);
      if (rule !== undefined) found.push({ file, line, rule });
      if (/^node:timers(?:\/|$)/.test(specifier) && !(file in MAY_READ_TIME)) {
        found.push({ file, line, rule: `time goes through clock.ts, not ${specifier}` });
      }
    }
    if (layerOf(partOf(file)) === ENTRY_LAYER) {
      const rest = code.replace(NAMED_REEXPORT, (text) => text.replace(/\S/g, ' '));
      const extra = rest.search(/\S/);
      if (extra !== -1) add(extra, 'an entry holds named re-exports only');
    }
    if (!(file in MAY_READ_TIME)) {
      for (const match of code.matchAll(READS_TIME))
        add(match.index, `time goes through clock.ts, not ${match[0].trim()}`);
    }
    if (partOf(file) !== 'cli' && !(file in MAY_PRINT_OR_EXIT)) {
      for (const match of code.matchAll(PRINTS_OR_EXITS))
        add(match.index, `only cli/ prints or exits, not ${match[0].trim()}`);
    }
  }
  return found;
}

/** Entries of the two lists that name a file which does not need its exception any more. */
export function staleExceptions(sources: Sources): string[] {
  const uses = (file: string, pattern: RegExp): boolean =>
    sources[file] !== undefined && (blankText(sources[file]).match(pattern)?.length ?? 0) > 0;
  const timers = (file: string): boolean =>
    importsOf(sources[file] ?? '').some(({ specifier }) => specifier.startsWith('node:timers'));
  return [
    ...Object.keys(MAY_READ_TIME).filter((file) => !uses(file, READS_TIME) && !timers(file)),
    ...Object.keys(MAY_PRINT_OR_EXIT).filter((file) => !uses(file, PRINTS_OR_EXITS)),
  ];
}
