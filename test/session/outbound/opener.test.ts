import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { isMooringError, MooringError } from '../../../src/errors.js';
import { createOpenLimiter, type OpenLimiter } from '../../../src/session/outbound/open-limiter.js';
import { createOpener, type Opener, type OpenOutcome } from '../../../src/session/outbound/opener.js';
import { settle } from '../../support/fake-context.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';
import { verifies } from '../../requirements.js';

interface Session {
  id: string | undefined;
}

interface Fixture {
  clock: ManualClock;
  limiter: OpenLimiter;
  opener: Opener<Session>;
  /** For each `initialize`: aborted once nobody waits for it. */
  abandoned: AbortSignal[];
  /** An `initialize` under way, by its number; calling one answers it. */
  sent: Array<(outcome: OpenOutcome<Session>) => void>;
  orphans: Array<[id: string | undefined, number: number]>;
  open(signal?: AbortSignal): Promise<{ number: number; opened: Session }>;
  /** Ends what `endOrphan` has begun. */
  orphansEnded(): void;
}

function fixture({ openMs = 30_000 } = {}): Fixture {
  const clock = manualClock();
  const abandoned: AbortSignal[] = [];
  const sent: Fixture['sent'] = [];
  const orphans: Fixture['orphans'] = [];
  const ends: Array<() => void> = [];
  const limiter = createOpenLimiter({ clock, allowance: 100, onBackedOff: () => {}, random: () => 1 });
  const opener = createOpener<Session>({
    clock,
    limiter,
    openMs,
    send(_, signal) {
      abandoned.push(signal);
      return new Promise((resolve) => sent.push(resolve));
    },
    endOrphan(opened, number) {
      orphans.push([opened.id, number]);
      return new Promise((resolve) => ends.push(resolve));
    },
  });
  return {
    clock,
    limiter,
    opener,
    abandoned,
    sent,
    orphans,
    open: (signal = new AbortController().signal) => opener.open(signal),
    orphansEnded: () => ends.splice(0).forEach((end) => end()),
  };
}

const failure = (retryAfterMs?: number): OpenOutcome<Session> => ({
  error: new MooringError('MOORING_OPEN_FAILED', 'no'),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

const isOpenFailed = (error: unknown): boolean =>
  isMooringError(error) && error.code === 'MOORING_OPEN_FAILED' && /within 30000 ms/.test(error.message);

test('each attempt has a number of its own; what was opened is handed over, and nothing stays behind', async () => {
  const { clock, opener, sent, open, orphans } = fixture();
  const { signal } = new AbortController();
  const first = open(signal);
  await settle();
  assert.equal(opener.underWay, 1);
  sent[0]?.({ opened: { id: 'a' } });
  assert.deepEqual(await first, { number: 1, opened: { id: 'a' } });
  const second = open();
  await settle();
  sent[1]?.({ opened: { id: undefined } });
  assert.equal((await second).number, 2);
  await settle();
  assert.deepEqual([opener.underWay, clock.pending, orphans.length], [0, 0, 0]);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a caller that gives up hears so at once; the initialize goes on, and what it brings is ended', async () => {
  verifies('ending/orphan-of-initialize');
  const { clock, opener, sent, open, orphans, orphansEnded } = fixture();
  const controller = new AbortController();
  const opening = open(controller.signal);
  await settle();
  controller.abort(new Error('enough'));
  await assert.rejects(opening, /enough/);
  assert.deepEqual([opener.underWay, clock.pending], [1, 0]);
  sent[0]?.({ opened: { id: 'a' } });
  await settle();
  assert.deepEqual(orphans, [['a', 1]]);
  assert.equal(opener.underWay, 1, 'until it has ended');
  orphansEnded();
  await settle();
  assert.equal(opener.underWay, 0);
});

test('the same when the time is over, with an error that says what to do', async () => {
  verifies('ending/orphan-of-initialize');
  const { clock, sent, open, orphans } = fixture();
  const opening = open();
  void opening.catch(() => {});
  await settle();
  await clock.advanceStepwise(30_000);
  await assert.rejects(opening, isOpenFailed);
  sent[0]?.({ opened: { id: 'a' } });
  await settle();
  assert.deepEqual(orphans, [['a', 1]]);
});

test('an initialize that failed and left an id all the same is ended; without an id there is nothing to end', async () => {
  verifies('ending/orphan-of-initialize');
  const { sent, open, orphans } = fixture();
  const opening = open();
  await settle();
  sent[0]?.({ ...(failure() as { error: Error }), left: [{ id: 'a' }, { id: 'b' }, { id: undefined }] });
  await assert.rejects(opening, /no/);
  await settle();
  assert.deepEqual(orphans, [
    ['a', 1],
    ['b', 1],
  ]);
  const controller = new AbortController();
  const other = open(controller.signal);
  await settle();
  controller.abort(new Error('enough'));
  await assert.rejects(other, /enough/);
  sent[1]?.({ opened: { id: undefined } });
  await settle();
  assert.equal(orphans.length, 2);
});

test('Retry-After is obeyed within the time, with a new number for each try, four times at most', async () => {
  verifies('bounds/retry-after-obeyed');
  const { clock, sent, open } = fixture();
  const opening = open();
  void opening.catch(() => {});
  for (let n = 0; n < 3; n += 1) {
    await settle();
    sent[n]?.(failure(5_000));
    await settle();
    await clock.advanceStepwise(4_999);
    assert.equal(sent.length, n + 1);
    await clock.advanceStepwise(1);
    assert.equal(sent.length, n + 2);
  }
  sent[3]?.(failure(5_000));
  await assert.rejects(opening, /no/);
  assert.equal(sent.length, 4);
});

test('a Retry-After beyond the time is an error at once', async () => {
  verifies('bounds/retry-after-obeyed');
  const { sent, open } = fixture();
  const opening = open();
  await settle();
  sent[0]?.(failure(30_000));
  await assert.rejects(opening, /no/);
  assert.equal(sent.length, 1);
});

test('an initialize that succeeded and left another session behind hands over the one and ends the other', async () => {
  verifies('ending/orphan-of-initialize');
  const { sent, open, orphans } = fixture();
  const opening = open();
  await settle();
  sent[0]?.({ opened: { id: 'b' }, left: [{ id: 'a' }] });
  assert.equal((await opening).opened.id, 'b');
  await settle();
  assert.deepEqual(orphans, [['a', 1]]);
});

test('the initialize is told once nobody waits for it, and not before', async () => {
  const { clock, sent, abandoned, open } = fixture();
  const taken = open();
  await settle();
  sent[0]?.({ opened: { id: 'a' } });
  await taken;
  open().catch(() => {});
  await clock.advanceStepwise(29_999);
  assert.deepEqual([abandoned[0]?.aborted, abandoned[1]?.aborted], [false, false]);
  await clock.advanceStepwise(1);
  assert.deepEqual([abandoned[0]?.aborted, abandoned[1]?.aborted], [false, true]);
});

test('servers that hang keep nobody from a turn', async () => {
  const { clock, sent, open } = fixture();
  for (let n = 0; n < 4; n += 1) open().catch(() => {});
  await clock.advanceStepwise(30_000);
  void open();
  await clock.advanceStepwise(10_000);
  assert.equal(sent.length, 5);
});

test('callers that give up are no failures of the server: the next open is not held up', async () => {
  const { sent, open } = fixture();
  for (let n = 0; n < 6; n += 1) {
    const controller = new AbortController();
    const opening = open(controller.signal);
    await settle();
    controller.abort(new Error('closed meanwhile'));
    await assert.rejects(opening, /closed meanwhile|held back/);
    sent.at(-1)?.({ opened: { id: `s${n}` } });
    await settle();
  }
  const asked = sent.length;
  void open();
  await settle();
  assert.deepEqual([asked, sent.length], [6, 7]);
});

test('a success after Retry-After bears the number of the try that brought it', async () => {
  const { clock, sent, open } = fixture();
  const opening = open();
  await settle();
  sent[0]?.(failure(1_000));
  await settle();
  await clock.advanceStepwise(1_000);
  sent[1]?.({ opened: { id: 'a' } });
  assert.deepEqual(await opening, { number: 2, opened: { id: 'a' } });
});

test('an open that waits for its turn and is given up sends nothing, and its turn goes to the next', async () => {
  const { sent, open } = fixture();
  const four = [1, 2, 3, 4].map(() => open());
  const controller = new AbortController();
  const fifth = open(controller.signal);
  const sixth = open();
  await settle();
  assert.equal(sent.length, 4);
  controller.abort(new Error('enough'));
  await assert.rejects(fifth, /enough/);
  sent.forEach((answer, n) => answer({ opened: { id: `s${n}` } }));
  await Promise.all(four);
  await settle();
  assert.equal(sent.length, 5);
  sent[4]?.({ opened: { id: 's4' } });
  assert.equal((await sixth).number, 5);
});

test('an open that is given up in the moment of its turn sends nothing, and keeps no turn', async () => {
  const { sent, open } = fixture();
  for (let n = 0; n < 8; n += 1) {
    const controller = new AbortController();
    const opening = open(controller.signal);
    controller.abort(new Error('enough'));
    await assert.rejects(opening, /enough/);
  }
  assert.equal(sent.length, 0);
  void open();
  await settle();
  assert.equal(sent.length, 1);
});

test('the time of an open includes the wait for its turn: past it nothing is sent', async () => {
  verifies('bounds/retry-after-obeyed');
  const { clock, limiter, sent, open } = fixture();
  (await limiter.enter(new AbortController().signal)).failed(300_000);
  let failed: unknown;
  open().catch((error: unknown) => (failed = error));
  await clock.advanceStepwise(30_000);
  assert.ok(isOpenFailed(failed), 'the caller hears after openMs');
  await clock.advanceStepwise(300_000);
  assert.equal(sent.length, 0, 'nobody wants that session any more');
});

test('a deadline that moves, as a reload moves it, holds for the next open', async () => {
  const clock = manualClock();
  let openMs = 10;
  const opener = createOpener<Session>({
    clock,
    limiter: createOpenLimiter({ clock, allowance: 9, onBackedOff: () => {} }),
    get openMs() {
      return openMs;
    },
    send: () => new Promise(() => {}),
    endOrphan: () => Promise.resolve(),
  });
  openMs = 1_000;
  let failed = false;
  opener.open(new AbortController().signal).catch(() => (failed = true));
  await settle();
  await clock.advanceStepwise(999);
  const atOnce = failed;
  await clock.advanceStepwise(1);
  assert.deepEqual([atOnce, failed], [false, true]);
});

test('quiet waits for each initialize under way and for the end of what it left, and no longer than it was told', async () => {
  const { clock, opener, sent, open, orphansEnded } = fixture();
  await opener.quiet(0);
  const controller = new AbortController();
  open(controller.signal).catch(() => {});
  await settle();
  controller.abort(new Error('enough'));
  let quiet = 0;
  void opener.quiet(60_000).then(() => (quiet += 1));
  void opener.quiet(1_000).then(() => (quiet += 1));
  await clock.advanceStepwise(1_000);
  assert.equal(quiet, 1);
  sent[0]?.({ opened: { id: 'a' } });
  await settle();
  assert.equal(quiet, 1);
  orphansEnded();
  await settle();
  assert.equal(quiet, 2);
  assert.equal(clock.pending, 0);
});
