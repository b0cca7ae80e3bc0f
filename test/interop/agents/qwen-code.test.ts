/**
 * Qwen Code, as it is installed, alone and with `mooring run --` in front of its command. It ends its sessions by
 * itself at most of its ends, and talks through a copy of undici that it bundles, with a dispatcher of its own.
 * What it does alone is asserted as well: a release that does better by itself shows here.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { qwenCode } from './agents.js';
import { assertEnded } from './ended.js';
import { exitCode, measureBoth, ROWS } from './rows.js';

describe('Qwen Code', () => {
  for (const [row, exit] of [
    ['end', 0],
    ['sigint', 130],
    ['sigterm', 143],
  ] as const) {
    it(`${ROWS[row].title}: ends its session by itself, and through Mooring once as well`, async () => {
      const { bare, run } = await measureBoth(qwenCode, ROWS[row]);
      assert.deepEqual([bare.ended, bare.live, exitCode(bare)], [1, 0, exit]);
      assertEnded(run);
      assert.deepEqual([run.runs, exitCode(run)], [bare.runs, exit]);
      // Only this row has MOORING_LOG=1.
      if (row === 'end')
        assert.match(run.stderr, /^mooring: session opened [0-9a-f]{12} at 127\.0\.0\.1:\d+$/m);
      assert.equal(run.idsPrinted, 0);
    });
  }

  it('leaves its session behind on SIGHUP; with Mooring it does not', async () => {
    const { bare, run } = await measureBoth(qwenCode, ROWS.sighup);
    assert.deepEqual([bare.deletes, bare.live, exitCode(bare)], [0, 1, 129]);
    assertEnded(run);
    assert.equal(exitCode(run), 129);
  });

  for (const row of ['restart', 'expire'] as const) {
    it(`${ROWS[row].title}: the second fails; with Mooring it runs, once`, async () => {
      const { bare, run } = await measureBoth(qwenCode, ROWS[row]);
      assert.deepEqual([bare.refused, bare.runs], [1, { one: 1, two: 0 }]);
      assertEnded(run, 2);
      assert.deepEqual([run.runs, exitCode(run)], [{ one: 1, two: 1 }, exitCode(bare)]);
    });
  }

  it('killed, leaves its session for good; with Mooring the next run ends it', async () => {
    const { bare, run } = await measureBoth(qwenCode, ROWS.sigkill);
    assert.equal(bare.live, 1);
    assert.equal(run.live, 0);
  });
});
