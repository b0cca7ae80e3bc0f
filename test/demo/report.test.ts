import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseDemoArgs } from '../../demo/args.js';
import { planDay, plannedKeys } from '../../demo/day.js';
import { findProblems, renderTable } from '../../demo/report.js';
import type { LoggedRequest } from '../../demo/request-log.js';
import { tally } from '../../demo/tally.js';
import type { Tally, TallyInput } from '../../demo/tally.js';

const clean: Tally = {
  sessionsOpened: 3,
  sessionsOnGet: 3,
  sessionsThatPosted: 1,
  ghosts: 0,
  deletes: 2,
  peakSockets: 4,
  liveAtEnd: 0,
  failedCalls: 0,
};
const facts = { expiredByServer: 1, hostEnd: 'SIGTERM' };

function entry(given: Partial<LoggedRequest>): LoggedRequest {
  return {
    at: 0,
    method: 'POST',
    path: '/notes',
    headers: {},
    sid: undefined,
    body: undefined,
    rpc: [],
    status: 200,
    sidOut: undefined,
    durationMs: 1,
    complete: true,
    ...given,
  };
}

function input(given: Partial<TallyInput>): TallyInput {
  const nothing = { entries: [], lives: [], peakSockets: 0, liveAtEnd: 0, until: 1_000, plannedKeys: [] };
  return { ...nothing, minuteMs: 100, runs: () => 1, ...given };
}

describe('the demo: tally', () => {
  it('a ghost is an id without a POST after its first minute that is still there a minute later', () => {
    const lives = [
      { sid: 'ghost', openedAt: 0 },
      { sid: 'worked', openedAt: 0 },
      { sid: 'ended', openedAt: 0, endedAt: 150, endedBy: 'delete' as const },
      { sid: 'young', openedAt: 900 },
    ];
    const entries = [
      entry({ sid: 'ghost', at: 50 }),
      entry({ sid: 'ghost', at: 500, method: 'GET' }),
      entry({ sid: 'worked', at: 500 }),
      entry({ sid: 'ended', at: 50 }),
    ];
    const figures = tally(input({ lives, entries }));
    assert.equal(figures.ghosts, 1);
    assert.equal(figures.sessionsThatPosted, 1);
    assert.equal(figures.sessionsOnGet, 1);
    assert.equal(figures.sessionsOpened, 4);
  });

  it('counts only DELETEs that ended a session', () => {
    const entries = [200, 204, 404, 503].map((status) => entry({ method: 'DELETE', sid: 'a', status }));
    assert.equal(tally(input({ entries })).deletes, 2);
  });

  it('a call failed unless the tool ran once and the answer went out whole', () => {
    const call = (key: string, given: Partial<LoggedRequest> = {}): LoggedRequest =>
      entry({ body: { method: 'tools/call', params: { arguments: { key } } }, ...given });
    const entries = [
      call('good'),
      call('again', { status: 404 }),
      call('again'),
      call('refused', { status: 404 }),
      call('cut', { complete: false }),
      call('twice'),
    ];
    const plannedKeys = ['good', 'again', 'refused', 'cut', 'twice', 'never-sent'];
    const runs = (key: string): number => (key === 'twice' ? 2 : 1);
    assert.equal(tally(input({ entries, plannedKeys, runs })).failedCalls, 4);
  });
});

describe('the demo: report', () => {
  it('fits into 80 columns, with color and without', () => {
    const wide = { ...clean, sessionsOpened: 123_456 };
    const plain = renderTable({ before: wide, after: wide }, false);
    for (const line of plain.split('\n')) assert.ok(line.length <= 80, line);
    assert.doesNotMatch(plain, /\u001b/);
    const colored = renderTable({ before: wide, after: wide }, true);
    assert.match(colored, /\u001b\[32m/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: takes the colors away again
    assert.equal(colored.replace(/\u001b\[\d+m/g, ''), plain);
  });

  it('finds nothing wrong with what Mooring promises', () => {
    assert.deepEqual(findProblems(clean, facts), []);
  });

  it('names each broken promise', () => {
    const broken: [Partial<Tally>, RegExp][] = [
      [{ ghosts: 1 }, /1 ghosts/],
      [{ liveAtEnd: 2 }, /2 sessions were live/],
      [{ failedCalls: 3 }, /3 calls failed/],
      [{ deletes: 1 }, /1 DELETEs ended sessions, 2 were due/],
      [{ deletes: 3 }, /3 DELETEs ended sessions, 2 were due/],
      [{ sessionsOpened: 0, deletes: -1 }, /no session was opened/],
    ];
    for (const [change, says] of broken) {
      const problems = findProblems({ ...clean, ...change }, facts);
      assert.equal(problems.length, 1, says.source);
      assert.match(String(problems[0]), says);
    }
    assert.match(String(findProblems(clean, { ...facts, hostEnd: 'exit 0' })[0]), /exit 0/);
  });
});

describe('the demo: plan and arguments', () => {
  it('has calls before and after the session expires, each with a key of its own', () => {
    const steps = planDay();
    const keys = plannedKeys(steps);
    assert.equal(new Set(keys).size, keys.length);
    const expiry = steps.findIndex((step) => step.do === 'expire');
    const leads = (part: typeof steps): boolean =>
      part.some((step) => step.do === 'call' && step.agent === 'lead' && step.server === 'notes');
    assert.ok(leads(steps.slice(0, expiry)) && leads(steps.slice(expiry)));
  });

  it('reads its flags and refuses others', () => {
    assert.deepEqual(parseDemoArgs([]), { help: false, json: false, major: 1, broken: undefined });
    assert.deepEqual(parseDemoArgs(['--json', '--sdk', '2', '--break', 'no-404']), {
      help: false,
      json: true,
      major: 2,
      broken: 'no-404',
    });
    assert.throws(() => parseDemoArgs(['--break', 'all']), /--break takes no-delete or no-404/);
    assert.throws(() => parseDemoArgs(['--sdk', '3']), /--sdk takes 1 or 2/);
    assert.throws(() => parseDemoArgs(['--jsn']));
  });
});
