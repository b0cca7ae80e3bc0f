import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createOpenLimiter,
  type OpenLimiter,
  type Turn,
} from '../../../src/session/outbound/open-limiter.js';
import { settle } from '../../support/fake-context.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';
import { verifies } from '../../requirements.js';

interface Fixture {
  clock: ManualClock;
  limiter: OpenLimiter;
  waits: Array<[waitMs: number, reason: string]>;
  /** Asks for a turn; what came of it is in `turns`. */
  ask(signal?: AbortSignal): void;
  /** Turns that were given, in order of asking. */
  turns: Turn[];
  /** Asks, expects a turn at once, and opens. */
  open(): Promise<void>;
}

function fixture(allowance = 2): Fixture {
  const clock = manualClock();
  const waits: Fixture['waits'] = [];
  const turns: Turn[] = [];
  const limiter = createOpenLimiter({
    clock,
    allowance,
    onBackedOff: (waitMs, reason) => waits.push([waitMs, reason]),
    random: () => 1,
  });
  return {
    clock,
    limiter,
    waits,
    turns,
    ask(signal = new AbortController().signal) {
      void limiter.enter(signal).then(
        (turn) => turns.push(turn),
        () => {},
      );
    },
    async open() {
      (await limiter.enter(new AbortController().signal)).opened();
    },
  };
}

test('four opens at once, the others in the order in which they asked', async () => {
  const { limiter, turns, ask } = fixture();
  const order: number[] = [];
  for (let n = 0; n < 4; n += 1) ask();
  for (let n = 0; n < 3; n += 1) {
    void limiter.enter(new AbortController().signal).then((turn) => {
      order.push(n);
      turns.push(turn);
    });
  }
  await settle();
  assert.deepEqual([turns.length, limiter.waiting], [4, 3]);
  turns[1]?.cancelled();
  turns[1]?.cancelled();
  turns[1]?.opened();
  await settle();
  assert.deepEqual([turns.length, limiter.waiting], [5, 2], 'a turn is given back once');
  turns[0]?.failed();
  turns[2]?.opened();
  await settle();
  assert.deepEqual([turns.length, limiter.waiting], [7, 0]);
  assert.deepEqual(order, [0, 1, 2]);
});

test('R031: opens that outpace ends wait, each time twice as long', async () => {
  verifies('bounds/opens-are-paced');
  const { clock, turns, waits, ask, open } = fixture(2);
  for (let n = 0; n < 2; n += 1) await open();
  assert.deepEqual(waits, [], 'as many as are allowed cost nothing');
  await open();
  assert.deepEqual(waits, [[500, 'outpaced']]);
  ask();
  await clock.advanceStepwise(499);
  assert.equal(turns.length, 0);
  await clock.advanceStepwise(1);
  turns.pop()?.opened();
  assert.deepEqual(waits.at(-1), [1_000, 'outpaced']);
  for (let n = 0; n < 10; n += 1) {
    ask();
    await clock.advanceStepwise(60_000);
    turns.pop()?.opened();
  }
  assert.deepEqual(waits.at(-1), [60_000, 'outpaced'], 'a minute at most');
});

test('ends pay for opens: whoever ends what it opens is never held up', async () => {
  const { waits, limiter, open } = fixture(2);
  for (let n = 0; n < 100; n += 1) {
    await open();
    limiter.ended();
  }
  assert.deepEqual(waits, []);
});

test('once ends have caught up nobody waits any more, and the next wait is short again', async () => {
  const { clock, waits, turns, limiter, ask, open } = fixture(1);
  await open();
  await open();
  await clock.advanceStepwise(500);
  await open();
  ask();
  limiter.ended();
  await settle();
  assert.equal(turns.length, 0, 'two are open, one is allowed');
  limiter.ended();
  await settle();
  assert.deepEqual([turns.length, clock.pending], [1, 0]);
  turns.pop()?.opened();
  assert.deepEqual(
    waits.map(([ms]) => ms),
    [500, 1_000, 500],
  );
});

test('ends shorten no Retry-After', async () => {
  const { clock, turns, limiter, ask, open } = fixture(1);
  await open();
  ask();
  await settle();
  turns.pop()?.failed(30_000);
  limiter.ended();
  limiter.ended();
  ask();
  await clock.advanceStepwise(29_999);
  assert.equal(turns.length, 0);
  await clock.advanceStepwise(1);
  assert.equal(turns.length, 1);
});

test('a longer Retry-After outlasts what opens that outpace ends have to wait, whichever came first', async () => {
  for (const retryAfterFirst of [true, false]) {
    const { clock, turns, limiter, ask } = fixture(0);
    ask();
    ask();
    await settle();
    const [a, b] = turns.splice(0) as [Turn, Turn];
    if (retryAfterFirst) a.failed(30_000);
    b.opened();
    if (!retryAfterFirst) a.failed(30_000);
    limiter.ended();
    ask();
    await clock.advanceStepwise(29_999);
    assert.equal(turns.length, 0);
    await clock.advanceStepwise(1);
    assert.equal(turns.length, 1);
  }
});

test('what was opened ten minutes ago and not known to have ended is forgotten', async () => {
  const { clock, waits, open } = fixture(1);
  await open();
  await clock.advanceStepwise(600_000);
  await open();
  assert.equal(waits.length, 1, 'ten minutes are not over yet');
  await clock.advanceStepwise(600_001);
  await open();
  assert.equal(waits.length, 1);
});

test('the allowance is read when it is needed: a reload may change it', async () => {
  const clock = manualClock();
  let allowance = 1;
  let waits = 0;
  const limiter = createOpenLimiter({
    clock,
    get allowance() {
      return allowance;
    },
    onBackedOff: () => (waits += 1),
  });
  allowance = 3;
  for (let n = 0; n < 3; n += 1) (await limiter.enter(new AbortController().signal)).opened();
  assert.equal(waits, 0);
});

test('Retry-After is obeyed by every open of that server', async () => {
  verifies('bounds/retry-after-obeyed');
  const { clock, turns, waits, ask } = fixture();
  ask();
  await settle();
  turns.pop()?.failed(30_000);
  assert.deepEqual(waits, [[30_000, 'retry-after']]);
  ask();
  ask();
  await clock.advanceStepwise(29_999);
  assert.equal(turns.length, 0);
  await clock.advanceStepwise(1);
  assert.equal(turns.length, 2);
});

test('a longer Retry-After that comes while others wait is obeyed, a shorter one shortens nothing', async () => {
  const { clock, turns, ask } = fixture();
  for (let n = 0; n < 3; n += 1) ask();
  await settle();
  const [first, second, third] = turns.splice(0) as [Turn, Turn, Turn];
  first.failed(1_000);
  ask();
  second.failed(5_000);
  third.failed(2_000);
  await clock.advanceStepwise(4_999);
  assert.equal(turns.length, 0);
  await clock.advanceStepwise(1);
  assert.equal(turns.length, 1);
});

test('one failure holds nobody up; from the second in a row on, opens wait longer and longer', async () => {
  const { clock, turns, waits, ask } = fixture();
  const fail = async (): Promise<void> => {
    ask();
    await clock.advanceStepwise(60_000);
    turns.pop()?.failed();
  };
  await fail();
  assert.deepEqual(waits, []);
  await fail();
  await fail();
  assert.deepEqual(waits, [
    [500, 'failing'],
    [1_000, 'failing'],
  ]);
  ask();
  await clock.advanceStepwise(60_000);
  turns.pop()?.opened();
  await fail();
  assert.equal(waits.length, 2, 'a success ends the row');
});

test('who gives up leaves the line, with the reason of its signal, and no listener stays', async () => {
  verifies('bounds/first-come-first-served');
  const { limiter, turns, ask } = fixture();
  for (let n = 0; n < 4; n += 1) ask();
  const controller = new AbortController();
  const given = limiter.enter(controller.signal);
  ask();
  controller.abort(new Error('enough'));
  await assert.rejects(given, /enough/);
  assert.equal(limiter.waiting, 1);
  await assert.rejects(limiter.enter(controller.signal), /enough/);
  turns[0]?.cancelled();
  await settle();
  assert.equal(turns.length, 5);
  const { signal } = new AbortController();
  turns[1]?.cancelled();
  await limiter.enter(signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('in any order: four at once at most, and whoever stays in line gets a turn in the end', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('ask' as const) }),
    fc.record({
      do: fc.constantFrom('opened', 'failed', 'busy', 'cancelled', 'leave', 'ended'),
      n: fc.nat(),
    }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.nat(20_000) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, limiter } = fixture(3);
      const running: Turn[] = [];
      const waiting = new Set<AbortController>();
      let most = 0;
      for (const one of steps) {
        if (one.do === 'ask') {
          const controller = new AbortController();
          waiting.add(controller);
          void limiter.enter(controller.signal).then(
            (turn) => {
              waiting.delete(controller);
              most = Math.max(most, running.push(turn));
            },
            () => waiting.delete(controller),
          );
        } else if (one.do === 'advance') await clock.advanceStepwise(one.ms);
        else if (one.do === 'leave')
          [...waiting][one.n % Math.max(1, waiting.size)]?.abort(new Error('left'));
        else if (one.do === 'ended') limiter.ended();
        else {
          const [turn] = running.splice(one.n % Math.max(1, running.length), 1);
          if (one.do === 'opened') turn?.opened();
          else if (one.do === 'failed') turn?.failed();
          else if (one.do === 'busy') turn?.failed(5_000);
          else turn?.cancelled();
        }
        await settle();
        assert.equal(limiter.waiting, waiting.size);
      }
      while (waiting.size + running.length > 0) {
        for (const turn of running.splice(0)) turn.opened();
        await clock.advanceStepwise(60_000);
      }
      assert.ok(most <= 4);
      await clock.advanceStepwise(60_000);
      assert.equal(clock.pending, 0);
    }),
    { numRuns: 100 },
  );
});
