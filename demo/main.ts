/**
 * `npm run demo`: two columns, one table, one verdict. The only file of the demo that prints or exits.
 */
import { HELP, parseDemoArgs, UsageError } from './args.js';
import type { DemoArgs } from './args.js';
import { runColumn } from './column.js';
import { MINUTE_MS } from './day.js';
import { findProblems, renderTable } from './report.js';

const started = performance.now();
const note = (text: string): void => void process.stderr.write(`${text}\n`);
const progress = (text: string): void => {
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  note(`${seconds.padStart(6)} s  ${text}`);
};

async function run({ json, major, broken }: DemoArgs): Promise<number> {
  note(`A day of an agent host on SDK v${major}; a minute lasts ${MINUTE_MS / 1_000} s.`);
  note('1 of 2: the SDK as hosts wire it today');
  const before = await runColumn({ wiring: 'sdk', major, progress });
  note(`2 of 2: the same host with Mooring${broken ? `, broken on purpose: ${broken}` : ''}`);
  const after = await runColumn({ wiring: 'mooring', major, broken, progress });
  progress('done');
  const columns = { before: before.figures, after: after.figures };
  const color = process.stdout.isTTY && !process.env.NO_COLOR;
  process.stdout.write(json ? `${JSON.stringify(columns)}\n` : `\n${renderTable(columns, color)}\n`);
  const problems = findProblems(after.figures, after.facts);
  for (const problem of problems) note(`not as promised: ${problem}`);
  if (problems.length > 0) return 1;
  const { expiredByServer } = after.facts;
  note(
    `As promised: every session was ended, ${after.figures.deletes} by DELETE, ${expiredByServer} by the server itself.`,
  );
  return 0;
}

try {
  const args = parseDemoArgs(process.argv.slice(2));
  if (args.help) process.stdout.write(HELP);
  else process.exitCode = await run(args);
} catch (error) {
  note(error instanceof Error ? error.message : String(error));
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
