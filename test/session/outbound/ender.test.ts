import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEnder, type Ender } from '../../../src/session/outbound/ender.js';
import type { OpenLimiter } from '../../../src/session/outbound/open-limiter.js';
import { createTerminator, type DeleteReply } from '../../../src/session/outbound/terminator.js';
import { settle } from '../../support/fake-context.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';

interface Fixture {
  clock: ManualClock;
  ender: Ender<{ id: string | undefined }>;
  /** DELETEs under way; calling one answers it. */
  deletes: Array<(reply: DeleteReply) => void>;
  told: unknown[][];
  readonly ended: number;
}

function fixture(): Fixture {
  const clock = manualClock();
  const deletes: Fixture['deletes'] = [];
  const told: unknown[][] = [];
  let ended = 0;
  const limiter: OpenLimiter = {
    enter: () => Promise.reject(new Error('nothing opens here')),
    ended: () => (ended += 1),
    waiting: 0,
    isIdle: true,
  };
  const ender = createEnder<{ id: string | undefined }>(
    {
      sendDelete: () => new Promise((resolve) => deletes.push(resolve)),
      onDeleted: (...args) => told.push(['deleted', ...args]),
      onNotConfirmed: (...args) => told.push(['not-confirmed', ...args]),
    },
    { clock, limiter, terminator: createTerminator({ clock, random: () => 1 }) },
  );
  return {
    clock,
    ender,
    deletes,
    told,
    get ended() {
      return ended;
    },
  };
}

test('an ending says what ended, why, with which status, and gives the limiter its end', async () => {
  const at = fixture();
  const opened = { id: 'a' };
  const ending = at.ender.end(opened, 3, 'idle', 2_000);
  await settle();
  at.clock.advance(40);
  at.deletes[0]?.({ status: 204 });
  await ending;
  assert.deepEqual(at.told, [['deleted', opened, 3, 'idle', 204, 40]]);
  assert.equal(at.ended, 1);
});

test('one session ended twice counts once', async () => {
  const at = fixture();
  const both = [at.ender.end({ id: 'a' }, 1, 'closed', 2_000), at.ender.end({ id: 'a' }, 1, 'idle', 2_000)];
  await settle();
  assert.equal(at.deletes.length, 1);
  at.deletes[0]?.({ status: 200 });
  await Promise.all(both);
  assert.deepEqual([at.told.length, at.ended], [1, 1]);
});

test('what has no id is not told to the server, and counts as ended', async () => {
  const at = fixture();
  await at.ender.end({ id: undefined }, 1, 'closed', 2_000);
  assert.deepEqual([at.deletes.length, at.told.length, at.ended], [0, 0, 1]);
});

test('an unconfirmed ending counts as ended when a retry is confirmed, not before', async () => {
  const at = fixture();
  const ending = at.ender.end({ id: 'a' }, 1, 'closed', 2_000);
  await settle();
  at.deletes[0]?.({ status: 500 });
  await ending;
  assert.deepEqual([at.told.length, at.ended], [1, 0]);
  await at.clock.advanceStepwise(1_000);
  at.deletes[1]?.({ status: 200 });
  await settle();
  assert.deepEqual([at.told.length, at.ended], [2, 1]);
});

test('one that the server disowned is tried once, and has been counted as ended before', async () => {
  const at = fixture();
  const ending = at.ender.endDisowned({ id: 'a' }, 1, 'expired', 2_000);
  await settle();
  at.deletes[0]?.({ status: 503 });
  await ending;
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.deletes.length, at.clock.pending], [1, 0]);
  assert.deepEqual(at.told, [['not-confirmed', { id: 'a' }, 1, 'expired', 503, 0, true]]);
  const other = at.ender.endDisowned({ id: 'b' }, 2, 'expired', 2_000);
  await settle();
  at.deletes[1]?.({ status: 200 });
  await other;
  await at.ender.endDisowned({ id: undefined }, 3, 'expired', 2_000);
  assert.deepEqual([at.told.length, at.ended], [2, 0]);
});

test('quiet waits for every ending under way, and no longer than it was told', async () => {
  const at = fixture();
  await at.ender.quiet(0);
  void at.ender.end({ id: 'a' }, 1, 'closed', 2_000);
  void at.ender.end({ id: 'b' }, 2, 'closed', 2_000);
  await settle();
  let quiet = false;
  const waiting = at.ender.quiet(1_000).then(() => (quiet = true));
  at.deletes[0]?.({ status: 200 });
  await settle();
  assert.equal(quiet, false);
  at.deletes[1]?.({ status: 200 });
  await waiting;
  void at.ender.end({ id: 'c' }, 3, 'closed', 2_000);
  let bored = false;
  void at.ender.quiet(1_000).then(() => (bored = true));
  await at.clock.advanceStepwise(999);
  assert.equal(bored, false);
  await at.clock.advanceStepwise(1);
  assert.equal(bored, true);
});
