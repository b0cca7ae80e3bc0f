/**
 * Qwen Code, as it is installed, alone and with `mooring run --` in front of its command.
 * Its MCP goes by a copy of undici of its own that never sets the dispatcher of the process, so Mooring does not see
 * it (docs/register.md): what is asserted is what it does by itself, and that Mooring changes none of it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { qwenCode } from './agents.js';
import type { AgentRun } from './drive.js';
import { exitCode, measureBoth, ROWS } from './rows.js';

/** What the server saw, what ran and how it ended. */
function facts(run: AgentRun): Record<string, unknown> {
  const { initializes, deletes, ended, live, calls, refused, runs, results, modelFaults } = run;
  return {
    initializes,
    deletes,
    ended,
    live,
    calls,
    refused,
    runs,
    results,
    modelFaults,
    exit: exitCode(run),
  };
}

async function unchanged(row: keyof typeof ROWS): Promise<AgentRun> {
  const { bare, run } = await measureBoth(qwenCode, ROWS[row]);
  assert.deepEqual(facts(run), facts(bare));
  assert.deepEqual(run.modelFaults, []);
  assert.equal(run.idsPrinted, 0);
  return run;
}

describe('Qwen Code, with Mooring as without', () => {
  it('ends its session at its normal end', async () => {
    const { deletes, ended, live, runs, stderr } = await unchanged('end');
    assert.deepEqual([deletes, ended, live, runs], [1, 1, 0, { one: 1, two: 1 }]);
    assert.doesNotMatch(
      stderr,
      /^mooring: /m,
      'Mooring sees it now: these rows are to be those of Gemini CLI',
    );
  });

  for (const [row, exit] of [
    ['sigint', 130],
    ['sigterm', 143],
  ] as const) {
    it(`ends its session on ${ROWS[row].title}`, async () => {
      const run = await unchanged(row);
      assert.deepEqual([run.ended, run.live, exitCode(run)], [1, 0, exit]);
    });
  }

  it('leaves its session behind on SIGHUP', async () => {
    const run = await unchanged('sighup');
    assert.deepEqual([run.deletes, run.live, exitCode(run)], [0, 1, 129]);
  });

  for (const row of ['restart', 'expire'] as const) {
    it(`${ROWS[row].title}: opens another session, and does not try the call again`, async () => {
      const run = await unchanged(row);
      assert.deepEqual([run.refused, run.runs, run.initializes, run.live], [1, { one: 1, two: 0 }, 2, 0]);
    });
  }

  it('killed, leaves its session for good', async () => {
    assert.equal((await unchanged('sigkill')).live, 1);
  });

  it('is told of in docs/register.md', () => {
    const page = readFileSync(new URL('../../../docs/register.md', import.meta.url), 'utf8');
    assert.match(page.split('## Which it does not')[1] ?? '', /a second copy of undici/);
  });
});
