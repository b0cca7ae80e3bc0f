/**
 * Client libraries as people use them, with Mooring: every cell of the table is what its row wants.
 * Bare libraries are measured for the table alone (npm run table:clients), but for what never changes there.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { LIBRARIES } from './libraries.js';
import { openColumn } from './measure.js';
import { ROWS } from './rows.js';
import { terminated } from './rows/process-end.js';

/** Each way is up to three processes. */
describe('client libraries with Mooring', { concurrency: 3 }, () => {
  for (const library of LIBRARIES) {
    for (const way of library.ways.filter((one) => one !== 'bare')) {
      describe(`${library.package} ${library.version}, ${way}`, { concurrency: true }, () => {
        const column = openColumn(library, way);
        after(() => column.stop());
        for (const row of ROWS) {
          it(`${row.title}: ${row.wanted}`, async () => {
            const { text, good } = await column.cell(row);
            assert.ok(good, text);
          });
        }
      });
    }
  }
});

describe('client libraries alone', { concurrency: 2 }, () => {
  for (const library of LIBRARIES) {
    it(`${library.package} ${library.version} leaves its session behind on SIGTERM`, async () => {
      const { text } = await openColumn(library, 'bare').cell(terminated);
      assert.equal(text, 'ends, 0 DELETE, 1 left');
    });
  }
});
