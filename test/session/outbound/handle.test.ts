import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMooringError } from '../../../src/errors.js';
import type { Generation } from '../../../src/session/outbound/generation.js';
import { createHandle, type Handle } from '../../../src/session/outbound/handle.js';
import { createOpenLimiter } from '../../../src/session/outbound/open-limiter.js';
import type { OpenOutcome } from '../../../src/session/outbound/opener.js';
import { createTerminator } from '../../../src/session/outbound/terminator.js';
import { verifies } from '../../requirements.js';
import { settle } from '../../support/fake-context.js';
import { manualClock } from '../../support/manual-clock.js';

interface Fake {
  id: string;
}

/** A handle on a server of which each test says what it does next. */
function start() {
  const clock = manualClock();
  const opens: Array<(outcome?: OpenOutcome<Fake>) => void> = [];
  const deletes: string[] = [];
  const events: string[] = [];
  let restoring: (() => Promise<void>) | undefined;
  let deleteStatus = 200;
  let holdDeletes: Promise<void> | undefined;
  const handle: Handle<Fake> = createHandle<Fake>(
    {
      open: (number) =>
        new Promise((resolve) => {
          opens.push((outcome = { opened: { id: `s${number}` } }) => resolve(outcome));
        }),
      restore: () => restoring?.() ?? Promise.resolve(),
      async sendDelete({ id }) {
        deletes.push(id);
        await holdDeletes;
        return { status: deleteStatus };
      },
      onOpened: ({ number }, kind) => events.push(`${kind} ${number}`),
      onRetired: ({ number }, reason) => events.push(`retired ${number} ${reason}`),
      onForgotten: ({ number }) => events.push(`forgotten ${number}`),
      onDeleted() {},
      onNotConfirmed() {},
      onIdle: () => void handle.sleep('idle'),
      onClosing() {},
    },
    {
      clock,
      limiter: createOpenLimiter({ clock, allowance: 16, onBackedOff: () => {} }),
      terminator: createTerminator({ clock, random: () => 0 }),
      server: 'fake',
      openMs: 30_000,
      idleMs: 600_000,
      answerMs: 3_600_000,
      deleteMs: 2_000,
    },
  );
  let calls = 0;
  return {
    clock,
    handle,
    opens,
    deletes,
    events,
    /** Sends one request; the test answers it through the generation that it is offered. */
    call() {
      const offered: Array<{ number: number; answer: (status: number) => void }> = [];
      const done = handle.run<number>(
        `call ${++calls}`,
        (generation: Generation<Fake>) =>
          new Promise((resolve) => {
            offered.push({
              number: generation.number,
              answer: (status) => resolve(status < 400 ? { value: generation.number } : { refused: status }),
            });
          }),
      );
      done.catch(() => {});
      return { offered, done };
    },
    async open() {
      const opening = handle.open();
      await settle();
      opens.shift()?.();
      await opening;
    },
    restoreWith: (fn: () => Promise<void>) => {
      restoring = fn;
    },
    answerDeletesWith: (status: number) => {
      deleteStatus = status;
    },
    holdDeletes() {
      let release = (): void => {};
      holdDeletes = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
  };
}

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return isMooringError(error) ? error.code : String(error);
};

describe('a handle', () => {
  it('re-opens once for all, and a late refusal of the old session never touches the new one (R040)', async () => {
    verifies('refused/one-reopen-for-all');
    const t = start();
    await t.open();
    const [a, b, late] = [t.call(), t.call(), t.call()];
    await settle();
    a.offered[0]?.answer(404);
    b.offered[0]?.answer(404);
    await settle();
    assert.equal(t.opens.length, 1);
    t.opens.shift()?.();
    await settle();
    assert.equal(t.handle.current?.number, 2);
    late.offered[0]?.answer(404);
    await settle();
    assert.equal(t.opens.length, 0, 'the late refusal opened another session');
    assert.equal(t.handle.current?.number, 2);
    for (const call of [a, b, late]) call.offered[1]?.answer(200);
    assert.deepEqual(await Promise.all([a.done, b.done, late.done]), [2, 2, 2]);
    assert.deepEqual(t.deletes, [], 'a session that answered 404 needs no DELETE');
  });

  it('keeps the old session when the re-open fails, and tries it first', async () => {
    verifies('refused/failed-reopen-keeps-the-id');
    const t = start();
    await t.open();
    const first = t.call();
    await settle();
    first.offered[0]?.answer(404);
    await settle();
    t.opens.shift()?.({ error: new Error('down') });
    await assert.rejects(first.done, /down/);
    assert.equal(t.handle.current?.number, 1);
    const second = t.call();
    await settle();
    assert.equal(second.offered[0]?.number, 1);
    second.offered[0]?.answer(200);
    assert.equal(await second.done, 1);
  });

  it('lets calls on the old session run on, and forgets it when the last has ended', async () => {
    verifies('refused/older-streams-run-on');
    const t = start();
    await t.open();
    const [streaming, refused] = [t.call(), t.call()];
    await settle();
    refused.offered[0]?.answer(404);
    await settle();
    t.opens.shift()?.();
    await settle();
    refused.offered[1]?.answer(200);
    assert.equal(await refused.done, 2);
    assert.ok(!t.events.includes('forgotten 1'));
    streaming.offered[0]?.answer(200);
    assert.equal(await streaming.done, 1);
    assert.ok(t.events.includes('forgotten 1'));
  });

  it('sends one DELETE without insisting to a session that a 400 left behind', async () => {
    verifies('ending/left-behind');
    const t = start();
    await t.open();
    t.answerDeletesWith(500);
    const call = t.call();
    await settle();
    call.offered[0]?.answer(400);
    await settle();
    t.opens.shift()?.();
    await settle();
    call.offered[1]?.answer(200);
    await call.done;
    await t.clock.advanceStepwise(120_000);
    assert.deepEqual(t.deletes, ['s1']);
  });

  it('sends one to the predecessor of a session that died young', async () => {
    verifies('ending/left-behind');
    const t = start();
    await t.open();
    t.clock.advance(60_000);
    const call = t.call();
    await settle();
    call.offered[0]?.answer(404);
    await settle();
    t.opens.shift()?.();
    await settle();
    call.offered[1]?.answer(200);
    await call.done;
    t.clock.advance(10_000);
    const next = t.call();
    await settle();
    next.offered[0]?.answer(404);
    await settle();
    assert.deepEqual(t.deletes, ['s1']);
  });

  it('ends in MOORING_REOPEN_STORM after two young sessions, and tries again once a minute (R071)', async () => {
    verifies('refused/storm-guard');
    const t = start();
    await t.open();
    t.clock.advance(60_000);
    for (let number = 1; number <= 2; number += 1) {
      const call = t.call();
      await settle();
      call.offered[0]?.answer(404);
      await settle();
      t.opens.shift()?.();
      await settle();
      call.offered[1]?.answer(200);
      await call.done;
    }
    const stormy = t.call();
    await settle();
    stormy.offered[0]?.answer(404);
    assert.equal(await codeOf(stormy.done), 'MOORING_REOPEN_STORM');
    assert.equal(t.opens.length, 0);
    t.clock.advance(60_000);
    const again = t.call();
    await settle();
    again.offered[0]?.answer(404);
    await settle();
    assert.equal(t.opens.length, 1);
  });

  it('fails with MOORING_SESSION_LOST when the new session refuses as well', async () => {
    verifies('refused/sent-again-once');
    const t = start();
    await t.open();
    const call = t.call();
    await settle();
    call.offered[0]?.answer(404);
    await settle();
    t.opens.shift()?.();
    await settle();
    call.offered[1]?.answer(404);
    assert.equal(await codeOf(call.done), 'MOORING_SESSION_LOST');
    assert.equal(call.offered.length, 2);
  });

  it('opens the next session only when the sleeping one has been ended', async () => {
    verifies('idle/ends-and-wakes');
    const t = start();
    await t.open();
    const release = t.holdDeletes();
    void t.handle.sleep('idle');
    const call = t.call();
    await settle();
    assert.deepEqual([t.deletes, t.opens.length], [['s1'], 0]);
    release();
    await settle();
    t.opens.shift()?.();
    await settle();
    call.offered[0]?.answer(200);
    assert.equal(await call.done, 2);
    assert.ok(t.events.includes('woken 2'));
  });

  it('sleeps after idleMs without work, and not while a request is in flight', async () => {
    verifies('idle/not-in-flight');
    const t = start();
    await t.open();
    const call = t.call();
    await t.clock.advanceStepwise(700_000);
    assert.deepEqual(t.deletes, []);
    call.offered[0]?.answer(200);
    await call.done;
    t.handle.work.worked();
    await t.clock.advanceStepwise(599_000);
    assert.deepEqual(t.deletes, []);
    await t.clock.advanceStepwise(1_000);
    assert.deepEqual(t.deletes, ['s1']);
    assert.equal(t.handle.phase, 'dormant');
  });

  it('ends what an open brings after close began', async () => {
    verifies('ending/orphan-of-initialize');
    const t = start();
    const opening = t.handle.open();
    opening.catch(() => {});
    await settle();
    const closing = t.handle.close('closed', { drainMs: 0, deleteMs: 2_000 });
    assert.equal(await codeOf(opening), 'MOORING_CLOSED');
    t.opens.shift()?.();
    await closing;
    assert.deepEqual(t.deletes, ['s1']);
  });

  it('ends a session that was being restored when close began', async () => {
    verifies('ending/orphan-of-initialize');
    const t = start();
    await t.open();
    const call = t.call();
    await settle();
    let restored = (): void => {};
    t.restoreWith(() => new Promise((resolve) => (restored = resolve)));
    call.offered[0]?.answer(404);
    await settle();
    t.opens.shift()?.();
    await settle();
    const closing = t.handle.close('closed', { drainMs: 0, deleteMs: 2_000 });
    restored();
    await closing;
    assert.equal(await codeOf(call.done), 'MOORING_CLOSED');
    assert.deepEqual(t.deletes.toSorted(), ['s1', 's2']);
  });

  it('drains up to drainMs, refuses new work at once, and a second close without drain hurries it', async () => {
    verifies('ending/drains');
    const t = start();
    await t.open();
    const call = t.call();
    await settle();
    const closing = t.handle.close('closed', { drainMs: 5_000, deleteMs: 2_000 });
    assert.equal(await codeOf(t.call().done), 'MOORING_CLOSED');
    await settle();
    assert.deepEqual(t.deletes, [], 'ended while a call was in flight');
    void t.handle.close('signal', { drainMs: 0, deleteMs: 2_000 });
    await closing;
    assert.deepEqual(t.deletes, ['s1']);
    assert.ok(t.handle.cut.aborted);
    call.offered[0]?.answer(200);
  });

  it('takes no longer to close than the deadline of the DELETE', async () => {
    verifies('ending/one-deadline');
    const t = start();
    await t.open();
    t.holdDeletes();
    let closed = false;
    void t.handle.close('closed', { drainMs: 0, deleteMs: 2_000 }).then(() => (closed = true));
    await t.clock.advanceStepwise(1_900);
    assert.equal(closed, false);
    await t.clock.advanceStepwise(200);
    assert.equal(closed, true);
  });
});
