import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkClock } from '../../../src/session/work-clock.js';
import { manualClock } from '../../support/manual-clock.js';

function fixture() {
  const clock = manualClock();
  const idleAt: number[] = [];
  const work = createWorkClock({
    clock,
    idleMs: 100,
    answerMs: 1_000,
    onIdle: () => idleAt.push(clock.now()),
  });
  return { clock, idleAt, work };
}

test('R112: a call longer than the idle time is not cut, and the idle time starts at its end', () => {
  const { clock, idleAt, work } = fixture();
  work.begin('request', 'x1');
  clock.advance(450);
  work.worked();
  work.end('request', 'x1');
  clock.advance(99);
  assert.deepEqual(idleAt, []);
  clock.advance(1);
  assert.deepEqual(idleAt, [550]);
});

test('time in flight is not idle time, also when what was in flight is no work', () => {
  const { clock, idleAt, work } = fixture();
  clock.advance(40);
  work.begin('answer', 'elicitation');
  clock.advance(500);
  work.end('answer', 'elicitation');
  clock.advance(59);
  assert.deepEqual(idleAt, [], 'the user has just answered');
  clock.advance(1);
  assert.deepEqual(idleAt, [600]);
});

test('a task that ends leaves the client the rest of the idle time to ask for its result', () => {
  const { clock, idleAt, work } = fixture();
  work.begin('task', 't', 800);
  clock.advance(300);
  work.end('task', 't');
  assert.equal(work.idleFor, 0);
  clock.advance(100);
  assert.deepEqual(idleAt, [400]);
});

test('an answer that nobody gives holds the clock until answerMs and no longer', () => {
  const { clock, idleAt, work } = fixture();
  clock.advance(30);
  work.begin('answer', 'a');
  clock.advance(1_069);
  assert.deepEqual(idleAt, []);
  clock.advance(1);
  assert.deepEqual(idleAt, [1_100]);
  assert.equal(clock.pending, 0);
});

test('the idle time runs from the moment the last answer ran out, whenever that is noticed', () => {
  const { clock, work } = fixture();
  work.begin('answer', 'a', 50);
  clock.advance(80);
  assert.equal(work.inFlight(), 0);
  assert.equal(work.idleFor, 30);
});

test('R017: an unknown or late end says so and starts nothing', () => {
  const { clock, idleAt, work } = fixture();
  work.begin('answer', 'a', 50);
  clock.advance(60);
  assert.equal(work.end('answer', 'a'), false);
  clock.advance(90);
  assert.deepEqual(idleAt, [150]);
  assert.equal(work.end('request', 'x9'), false);
  clock.advance(1_000);
  assert.deepEqual(idleAt, [150], 'onIdle does not run again for nothing');
  assert.equal(clock.pending, 0);
});

test('after it was idle: something in flight that was no work makes it idle again at once, work after idleMs', () => {
  const { clock, idleAt, work } = fixture();
  clock.advance(100);
  work.begin('request', 'x1');
  clock.advance(5);
  work.end('request', 'x1');
  clock.advance(0);
  assert.deepEqual(idleAt, [100, 105]);
  work.begin('request', 'x2');
  work.worked();
  work.end('request', 'x2');
  clock.advance(100);
  assert.deepEqual(idleAt, [100, 105, 205]);
});

test('stop leaves no timer, and nothing starts one again', () => {
  const { clock, idleAt, work } = fixture();
  work.begin('task', 't');
  work.stop();
  work.begin('request', 'x');
  work.worked();
  work.end('request', 'x');
  clock.advance(10_000);
  assert.equal(clock.pending, 0);
  assert.deepEqual(idleAt, []);
});
