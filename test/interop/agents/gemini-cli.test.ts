/**
 * Gemini CLI, as it is installed, alone and with `mooring run --` in front of its command.
 * What it does alone is asserted as well: a release that ends its sessions by itself shows here.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { geminiCli } from './agents.js';
import type { AgentRun } from './drive.js';
import { assertEnded } from './ended.js';
import { exitCode, measureBoth, ROWS } from './rows.js';
import type { Way } from './rows.js';

/** From the signal to the end of the last process; Mooring's own deadline is 2 s. */
const END_MS = 3_000;

const both = (row: keyof typeof ROWS): Promise<Record<Way, AgentRun>> => measureBoth(geminiCli, ROWS[row]);

describe('Gemini CLI', () => {
  it('leaves its session behind at its normal end; with Mooring it does not', async () => {
    const { bare, run } = await both('end');
    assert.deepEqual([bare.deletes, bare.live, exitCode(bare)], [0, 1, 0]);
    assertEnded(run);
    for (const { runs, stdout } of [bare, run])
      assert.deepEqual([runs, stdout], [{ one: 1, two: 1 }, 'Done.\n']);
    assert.equal(exitCode(run), 0);
    assert.match(run.stderr, /^mooring: session opened [0-9a-f]{12} at 127\.0\.0\.1:\d+$/m);
    assert.equal(run.idsPrinted, 0);
  });

  for (const row of ['sigint', 'sigterm', 'sighup'] as const) {
    it(`leaves its session behind on ${ROWS[row].title}; with Mooring it does not`, async () => {
      const { bare, run } = await both(row);
      assert.deepEqual([bare.deletes, bare.live], [0, 1]);
      assertEnded(run);
      assert.equal(exitCode(run), exitCode(bare));
      assert.ok(run.tookMs <= END_MS, `${run.tookMs} ms`);
    });
  }

  for (const row of ['restart', 'expire'] as const) {
    it(`${ROWS[row].title}: the second fails; with Mooring it runs, once`, async () => {
      const { bare, run } = await both(row);
      assert.deepEqual([bare.refused, bare.runs], [1, { one: 1, two: 0 }]);
      assertEnded(run, 2);
      assert.deepEqual([run.runs, exitCode(run)], [{ one: 1, two: 1 }, exitCode(bare)]);
      assert.match(run.results.at(-1) ?? '', /counted two/);
    });
  }

  it('killed, leaves its session for good; with Mooring the next run ends it', async () => {
    const { bare, run } = await both('sigkill');
    assert.deepEqual([bare.deletes, bare.live], [0, 2]);
    assert.deepEqual([run.initializes, run.ended, run.live], [1, 2, 0]);
  });
});
