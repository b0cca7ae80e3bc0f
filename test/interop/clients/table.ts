/**
 * Measures every library in every way, and writes docs/clients.json and the page that it makes.
 * scripts/table-clients.mjs installs what this needs, and starts it. `--json` prints the report and writes nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { LIBRARIES } from './libraries.js';
import type { Library, Way } from './libraries.js';
import { measureColumn } from './measure.js';
import { renderReport } from './report.js';
import type { Report } from './report.js';
import { ROWS } from './rows.js';

/** Each column is up to three processes; more at once would measure the machine. */
const AT_ONCE = 2;
const ROOT = new URL('../../../', import.meta.url);

const columns: { library: Library; way: Way }[] = LIBRARIES.flatMap((library) =>
  library.ways.map((way) => ({ library, way })),
);
const measured = new Map<string, Awaited<ReturnType<typeof measureColumn>>>();
const waiting = [...columns];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { library, way } = next;
      const cells = await measureColumn(library, way);
      measured.set(`${library.folder} ${way}`, cells);
      const good = Object.values(cells).filter((cell) => cell.good).length;
      console.error(`table: ${library.package}, ${way}: ${good} of ${ROWS.length}`);
    }
  }),
);

const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string };
const report: Report = {
  date: new Date().toISOString().slice(0, 10),
  node: process.versions.node,
  mooring: version,
  rows: ROWS.map(({ id, title, wanted }) => ({ id, title, wanted })),
  libraries: LIBRARIES.map(({ package: name, version: pinned, folder, ways }) => ({
    package: name,
    version: pinned,
    ways: Object.fromEntries(ways.map((way) => [way, measured.get(`${folder} ${way}`) ?? {}])),
  })),
};
const json = `${JSON.stringify(report, null, 2)}\n`;
if (process.argv.includes('--json')) process.stdout.write(json);
else {
  writeFileSync(new URL('docs/clients.json', ROOT), json);
  writeFileSync(new URL('docs/clients.md', ROOT), renderReport(report));
}
