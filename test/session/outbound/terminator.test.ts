import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { meaningOfDelete } from '../../../src/protocol/meaning.js';
import {
  createTerminator,
  type DeleteReply,
  type EndTarget,
  type Terminator,
} from '../../../src/session/outbound/terminator.js';
import { settle } from '../../support/fake-context.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';
import { verifies } from '../../requirements.js';

/** How the server takes one DELETE: a status, no answer, an answer that never comes, or no request at all. */
type Reply = number | DeleteReply | 'refused' | 'hangs' | 'throws';

interface Fixture {
  clock: ManualClock;
  terminator: Terminator;
  /** clock.now() of each DELETE. */
  sentAt: number[];
  /** What the target was told, in order. */
  told: Array<[kind: 'confirmed' | 'not-confirmed', status: number | undefined, durationMs: number]>;
  target: EndTarget;
  signals: AbortSignal[];
}

/** One session whose DELETEs are answered in turn; the last answer stays. */
function fixture(...replies: Reply[]): Fixture {
  const clock = manualClock();
  const sentAt: number[] = [];
  const signals: AbortSignal[] = [];
  const told: Fixture['told'] = [];
  const target: EndTarget = {
    id: 'session-1',
    send(signal) {
      signals.push(signal);
      const reply = replies[Math.min(sentAt.push(clock.now()), replies.length) - 1] as Reply;
      if (reply === 'throws') throw new Error('before it was sent');
      if (reply === 'refused') return Promise.reject(new Error('ECONNREFUSED'));
      if (reply === 'hangs') {
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      }
      return Promise.resolve(typeof reply === 'number' ? { status: reply } : reply);
    },
    onConfirmed: (status, durationMs) => told.push(['confirmed', status, durationMs]),
    onNotConfirmed: (status, durationMs) => told.push(['not-confirmed', status, durationMs]),
  };
  return { clock, terminator: createTerminator({ clock, random: () => 1 }), sentAt, signals, told, target };
}

test('a confirmed DELETE is told, remembered, and never followed by another', async () => {
  verifies('ending/what-confirms');
  for (const status of [200, 202, 204, 404, 405, 501]) {
    const { clock, terminator, target, sentAt, told } = fixture(status);
    assert.equal(await terminator.end(target, 2_000), true);
    assert.equal(await terminator.end(target, 2_000), true);
    assert.deepEqual(told, [['confirmed', status, 0]]);
    assert.deepEqual([terminator.unconfirmed, clock.pending], [0, 0]);
    assert.equal(sentAt.length, 1);
  }
});

test('callers that ask at once share one DELETE', async () => {
  verifies('ending/one-delete');
  const { terminator, target, sentAt, told } = fixture(200);
  const ends = await Promise.all([1, 2, 3].map(() => terminator.end({ ...target }, 2_000)));
  assert.deepEqual([ends, sentAt.length, told.length], [[true, true, true], 1, 1]);
});

test('an unconfirmed one is tried three times more, each wait twice as long, and then no more', async () => {
  verifies('ending/unconfirmed-is-tried-again');
  for (const reply of [301, 400, 401, 403, 429, 500, 503, 'refused', 'throws'] as const) {
    const { clock, terminator, target, sentAt, told } = fixture(reply);
    assert.equal(await terminator.end(target, 2_000), false, String(reply));
    assert.equal(terminator.unconfirmed, 1);
    await clock.advanceStepwise(3_600_000);
    assert.deepEqual(sentAt, [0, 1_000, 3_000, 7_000], String(reply));
    assert.equal(told.length, 4);
    assert.deepEqual(told[0], ['not-confirmed', typeof reply === 'number' ? reply : undefined, 0]);
    assert.deepEqual([clock.pending, terminator.unconfirmed], [0, 0]);
  }
});

test('a retry that is confirmed is the last', async () => {
  const { clock, terminator, target, sentAt, told } = fixture(500, 200);
  await terminator.end(target, 2_000);
  await clock.advanceStepwise(3_600_000);
  assert.deepEqual(sentAt, [0, 1_000]);
  assert.deepEqual(told.at(-1), ['confirmed', 200, 0]);
  assert.deepEqual([clock.pending, terminator.unconfirmed], [0, 0]);
});

test('Retry-After makes the wait longer, never shorter', async () => {
  verifies('ending/unconfirmed-is-tried-again');
  const { clock, terminator, target, sentAt } = fixture(
    { status: 503, retryAfterMs: 20_000 },
    { status: 429, retryAfterMs: 10 },
    204,
  );
  await terminator.end(target, 2_000);
  await clock.advanceStepwise(3_600_000);
  assert.deepEqual(sentAt, [0, 20_000, 22_000]);
});

test('with no retries one try is all', async () => {
  const { clock, terminator, target, sentAt } = fixture(500);
  assert.equal(await terminator.end(target, 2_000, { retries: 0 }), false);
  assert.deepEqual([clock.pending, terminator.unconfirmed], [0, 0]);
  assert.equal(await terminator.end(target, 2_000, { retries: 0 }), false);
  assert.equal(sentAt.length, 2, 'asked again, it tries again');
});

test('who wants retries gets them, also when it joined a try of somebody who wanted none', async () => {
  verifies('ending/unconfirmed-is-tried-again');
  const { clock, terminator, target, sentAt } = fixture(500, 200);
  const once = terminator.end(target, 2_000, { retries: 0 });
  const insisting = terminator.end(target, 2_000);
  assert.deepEqual(await Promise.all([once, insisting]), [false, false]);
  await clock.advanceStepwise(3_600_000);
  assert.equal(sentAt.length, 2);
});

test('R011: a DELETE that hangs is given up at its deadline, and its signal tells it so', async () => {
  verifies('ending/one-deadline');
  const { clock, terminator, target, signals, told } = fixture('hangs');
  let result: boolean | undefined;
  void terminator.end(target, 2_000).then((value) => (result = value));
  await settle();
  await clock.advanceStepwise(1_999);
  assert.deepEqual([result, signals[0]?.aborted], [undefined, false]);
  await clock.advanceStepwise(1);
  assert.deepEqual([result, signals[0]?.aborted], [false, true]);
  assert.deepEqual(told, [['not-confirmed', undefined, 2_000]]);
  assert.match(String(signals[0]?.reason), /TimeoutError/);
});

test('nobody waits for background tries: each of those may take ten seconds', async () => {
  const { clock, terminator, target, sentAt } = fixture('hangs');
  void terminator.end(target, 2_000);
  await settle();
  await clock.advanceStepwise(3_600_000);
  assert.deepEqual(sentAt, [0, 3_000, 15_000, 29_000]);
  assert.equal(clock.pending, 0);
});

test('a caller that joins a background try is held up by its own deadline and no more', async () => {
  verifies('ending/one-deadline');
  const { clock, terminator, target, sentAt } = fixture(500, 'hangs');
  await terminator.end(target, 2_000);
  await clock.advanceStepwise(1_000);
  assert.equal(sentAt.length, 2, 'the background try is under way');
  let result: boolean | undefined;
  void terminator.end(target, 2_000).then((value) => (result = value));
  await clock.advanceStepwise(2_000);
  assert.equal(result, false);
});

test('a caller that asks while a retry waits does not wait for it', async () => {
  const { clock, terminator, target, sentAt } = fixture(500, 500, 200);
  await terminator.end(target, 2_000);
  await clock.advanceStepwise(500);
  assert.equal(await terminator.end(target, 2_000), false);
  assert.deepEqual(sentAt, [0, 500]);
  assert.equal(clock.pending, 1, 'the timer of the retry that it replaced is gone');
  await clock.advanceStepwise(3_600_000);
  assert.equal(sentAt.length, 3);
});

test('an answer after the deadline changes nothing', async () => {
  const { clock, terminator, target, told } = fixture();
  let answer: (reply: DeleteReply) => void = () => {};
  const deaf: EndTarget = { ...target, send: () => new Promise((resolve) => (answer = resolve)) };
  const ending = terminator.end(deaf, 2_000, { retries: 0 });
  await settle();
  await clock.advanceStepwise(2_000);
  assert.equal(await ending, false);
  answer({ status: 200 });
  await settle();
  assert.deepEqual(told, [['not-confirmed', undefined, 2_000]]);
});

test('R079: after stop no retry is sent and no timer stays; what is asked for is still sent', async () => {
  const { clock, terminator, target, sentAt } = fixture(500, 500, 200);
  await terminator.end(target, 2_000);
  terminator.stop();
  assert.equal(clock.pending, 0);
  await clock.advanceStepwise(3_600_000);
  assert.equal(sentAt.length, 1);
  assert.equal(terminator.unconfirmed, 1);
  assert.equal(await terminator.end(target, 2_000), false);
  assert.equal(clock.pending, 0);
  assert.equal(await terminator.end(target, 2_000), true);
});

test('an id that the server issues anew is another session: it gets a DELETE of its own', async () => {
  const { clock, terminator, target, sentAt } = fixture(200, 500, 200);
  await terminator.end(target, 2_000);
  terminator.issued(target.id);
  assert.equal(await terminator.end(target, 2_000), false);
  terminator.issued(target.id);
  assert.deepEqual([clock.pending, terminator.unconfirmed], [0, 0], 'the retry was for the older one');
  await clock.advanceStepwise(3_600_000);
  assert.equal(sentAt.length, 2);
  assert.equal(await terminator.end(target, 2_000), true);
});

test('the memory of confirmed ids is bounded', async () => {
  const { terminator, target, sentAt } = fixture(200);
  for (let n = 0; n <= 4_096; n += 1) await terminator.end({ ...target, id: `s${n}` }, 2_000);
  await terminator.end({ ...target, id: 's1' }, 2_000);
  assert.equal(sentAt.length, 4_097, 'remembered');
  await terminator.end({ ...target, id: 's0' }, 2_000);
  assert.equal(sentAt.length, 4_098, 'forgotten');
});

const IDS = ['a', 'b'] as const;
const replyKind = fc.oneof(
  fc.constantFrom<Reply>(200, 204, 404, 405, 501, 401, 429, 500, 503, 'refused', 'hangs', 'throws'),
  fc.record({ status: fc.constantFrom(429, 503), retryAfterMs: fc.nat(40_000) }),
);
const step = fc.oneof(
  fc.record({
    do: fc.constant('end' as const),
    id: fc.constantFrom(...IDS),
    deadlineMs: fc.integer({ min: 1, max: 12_000 }),
    retries: fc.constantFrom(undefined, 0),
  }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.oneof(fc.nat(20_000), fc.constant(0)) }),
);

test('in any order: no two DELETEs at once for one id, none after a confirmed one, four tries at most unasked, no timer in the end', async () => {
  verifies('property/outbound');
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(replyKind, { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.nat(3_000)),
      async (steps, replies, latencies) => {
        const clock = manualClock();
        const terminator = createTerminator({ clock, random: () => 0.5 });
        const running = new Set<string>();
        const confirmed = new Set<string>();
        const unasked = new Map<string, number>();
        const faults: string[] = [];
        const results: Array<Promise<boolean>> = [];
        let sent = 0;

        const send = (id: string, signal: AbortSignal): Promise<DeleteReply> => {
          if (running.has(id)) faults.push('two at once');
          if (confirmed.has(id)) faults.push('after a confirmed one');
          unasked.set(id, (unasked.get(id) ?? 0) + 1);
          if ((unasked.get(id) ?? 0) > 4) faults.push('more than four tries');
          const reply = replies[sent++ % replies.length] as Reply;
          if (reply === 'throws') throw new Error('before it was sent');
          running.add(id);
          return new Promise((resolve, reject) => {
            const over = (fn: () => void) => (): void => {
              latency?.cancel();
              running.delete(id);
              fn();
            };
            signal.addEventListener(
              'abort',
              over(() => reject(signal.reason as Error)),
            );
            const answer = over(() => {
              if (reply === 'refused') return reject(new Error('ECONNREFUSED'));
              return resolve(typeof reply === 'number' ? { status: reply } : (reply as DeleteReply));
            });
            const latency = reply === 'hangs' ? undefined : clock.after(latencies.next().value, answer);
          });
        };

        const end = (id: string, deadlineMs: number, retries: number | undefined): void => {
          unasked.set(id, running.has(id) ? 1 : 0);
          const target: EndTarget = {
            id,
            send: (signal) => send(id, signal),
            onConfirmed(status) {
              if (meaningOfDelete(status) !== 'confirmed') faults.push(`${status} confirms nothing`);
              if (confirmed.has(id)) faults.push('confirmed twice');
              confirmed.add(id);
            },
            onNotConfirmed() {
              if (confirmed.has(id)) faults.push('not confirmed after it was');
            },
          };
          const result = terminator.end(target, deadlineMs, retries === undefined ? {} : { retries });
          results.push(result);
          void result.then((value) => {
            if (value !== confirmed.has(id)) faults.push(`resolved ${value}`);
          });
        };

        for (const one of steps) {
          if (one.do === 'end') end(one.id, one.deadlineMs, one.retries);
          else {
            // Timers come after everything that is ready, as in Node.
            await settle();
            await clock.advanceStepwise(one.ms);
          }
        }
        await settle();
        await clock.advanceStepwise(3_600_000);
        await Promise.all(results);
        assert.deepEqual(faults, []);
        assert.deepEqual([clock.pending, terminator.unconfirmed, running.size], [0, 0, 0]);
      },
    ),
    { numRuns: 150 },
  );
});

test('a DELETE that was under way when its id was issued anew says nothing of the new session', async () => {
  const { clock, terminator, target, sentAt } = fixture(200);
  let answer: (reply: DeleteReply) => void = () => {};
  const older: EndTarget = { ...target, send: () => new Promise((resolve) => (answer = resolve)) };
  const ending = terminator.end(older, 2_000);
  await settle();
  terminator.issued(target.id);
  answer({ status: 200 });
  assert.equal(await ending, true);
  assert.equal(await terminator.end(target, 2_000), true);
  assert.equal(sentAt.length, 1, 'the new session is ended by a DELETE of its own');
  assert.equal(clock.pending, 0);
});
