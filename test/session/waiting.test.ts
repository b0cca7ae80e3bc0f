import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { sleep, systemClock } from '../../src/clock.js';
import { linkedController, settledWithin, untilAborted } from '../../src/session/waiting.js';
import { settle } from '../support/fake-context.js';
import { manualClock } from '../support/manual-clock.js';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const never = new Promise<never>(() => {});

test('waiting for a promise ends with the signal, whose reason it rejects with; the promise goes on', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const waiting = untilAborted(never, controller.signal);
  controller.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  await assert.rejects(untilAborted(Promise.resolve(1), controller.signal), (error) => error === reason);
});

test('the value, or the error, of the promise comes through, and no listener stays on the signal', async () => {
  const { signal } = new AbortController();
  assert.equal(await untilAborted(Promise.resolve(7), signal), 7);
  await assert.rejects(untilAborted(Promise.reject(new Error('own')), signal), /own/);
  await settle();
  assert.equal(listeners(signal), 0);
  assert.equal(await untilAborted(Promise.resolve(7), undefined), 7);
});

test("a promise that fails after its waiter has gone is nobody's unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const controller = new AbortController();
    const fail: Array<(error: Error) => void> = [];
    const failing = (): Promise<void> => new Promise((_, reject) => fail.push(reject));
    const before = untilAborted(failing(), controller.signal);
    controller.abort(new Error('gone'));
    const after = untilAborted(failing(), controller.signal);
    await assert.rejects(before, /gone/);
    await assert.rejects(after, /gone/);
    for (const reject of fail) reject(new Error('late'));
    await settle();
    await settle();
    assert.deepEqual(unhandled, []);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('settledWithin resolves when the promise has settled either way, or when the time is over; no timer stays', async () => {
  const clock = manualClock();
  await settledWithin(clock, Promise.resolve(), 1_000);
  await settledWithin(clock, Promise.reject(new Error('x')), 1_000);
  assert.equal(clock.pending, 0);
  let done = false;
  const waiting = settledWithin(clock, never, 1_000).then(() => (done = true));
  clock.advance(999);
  await settle();
  assert.equal(done, false);
  clock.advance(1);
  await waiting;
  assert.equal(clock.pending, 0);
});

test('a linked controller is aborted with the first of its signals, and lets go of all of them', () => {
  const [a, b] = [new AbortController(), new AbortController()];
  const linked = linkedController(a.signal, undefined, b.signal);
  const reason = new Error('b');
  b.abort(reason);
  a.abort(new Error('a'));
  assert.equal(linked.controller.signal.reason, reason);
  linked.unlink();
  assert.deepEqual([listeners(a.signal), listeners(b.signal)], [0, 0]);
});

test('R101: 1,440 linked controllers leave no listener on a signal that lives long', () => {
  const { signal } = new AbortController();
  for (let n = 0; n < 1_440; n += 1) linkedController(signal).unlink();
  assert.equal(listeners(signal), 0);
});

test('a controller linked to what was aborted before is aborted at once; unlinked, it is left alone', () => {
  const gone = new AbortController();
  gone.abort(new Error('before'));
  assert.match(String(linkedController(gone.signal).controller.signal.reason), /before/);
  const source = new AbortController();
  const { controller, unlink } = linkedController(source.signal);
  unlink();
  source.abort();
  assert.equal(controller.signal.aborted, false);
});

test('sleep resolves in time, rejects with the reason of its signal, and leaves no timer and no listener', async () => {
  const clock = manualClock();
  const controller = new AbortController();
  const slept = sleep(clock, 100, controller.signal);
  clock.advance(100);
  await slept;
  assert.deepEqual([clock.pending, listeners(controller.signal)], [0, 0]);
  const cut = sleep(clock, 100, controller.signal);
  controller.abort(new Error('up'));
  await assert.rejects(cut, /up/);
  await assert.rejects(sleep(clock, 100, controller.signal), /up/);
  assert.equal(clock.pending, 0);
});

test('the real clock never fires a long timer at once, nor keeps what it has fired', async () => {
  let fired = false;
  const timer = systemClock.after(2 ** 40, () => (fired = true));
  await new Promise<void>((resolve) => {
    const keep = setTimeout(() => {}, 1_000);
    systemClock.after(0, () => {
      clearTimeout(keep);
      resolve();
    });
  });
  assert.equal(fired, false);
  timer.cancel();
  timer.cancel();
});
