import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifies } from '../../requirements.js';
import { settle } from '../../support/fake-context.js';
import { listening } from './listening.js';

const RANDOM = { low: () => 0, high: () => 1 };

test('active: open while the session works and until streamIdleMs after, asked for again with the next work', async () => {
  verifies('listen/active');
  const at = await listening().bound();
  assert.equal(at.gets.length, 0, 'nothing to listen for yet');
  at.stream.workBegan();
  at.stream.workBegan();
  const get = await at.open();
  assert.deepEqual([at.gets.length, at.stream.state, at.events], [1, 'open', ['open']]);
  await at.clock.advanceStepwise(300_000);
  assert.equal(get.signal.aborted, false, 'work takes as long as it takes');
  at.stream.workEnded();
  await at.clock.advanceStepwise(9_999);
  assert.equal(at.stream.state, 'open');
  await at.clock.advanceStepwise(1);
  assert.deepEqual([at.stream.state, get.signal.aborted], ['closed', true]);
  assert.deepEqual(at.events, ['open', 'idle 310000']);
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.gets.length, at.clock.pending], [1, 0]);
  at.stream.workBegan();
  assert.equal(at.gets.length, 2);
});

test('active: work that begins again in time keeps the stream', async () => {
  const at = await listening().working();
  await at.open();
  at.stream.workEnded();
  await at.clock.advanceStepwise(9_000);
  at.stream.workBegan();
  assert.equal(at.clock.pending, 0);
  await at.clock.advanceStepwise(9_000);
  at.stream.workEnded();
  at.stream.workEnded();
  assert.equal(at.clock.pending, 1);
  await at.clock.advanceStepwise(9_999);
  assert.deepEqual([at.stream.state, at.gets.length], ['open', 1]);
  await at.clock.advanceStepwise(1);
  assert.deepEqual([at.stream.state, at.clock.pending], ['closed', 0]);
});

test('off: never, whatever happens', async () => {
  verifies('listen/off');
  const at = await listening({ mode: 'off' }).working();
  at.memory.pingsOnStream = true;
  at.stream.postSent().answered();
  await at.stream.settled(1_000);
  at.stream.workEnded();
  await at.clock.advanceStepwise(60_000);
  assert.deepEqual([at.gets.length, at.clock.pending, at.stream.state], [0, 0, 'closed']);
});

test('always: from the moment that the session is there, work or not', async () => {
  const at = await listening({ mode: 'always' }).bound();
  const get = await at.open();
  at.stream.workBegan();
  at.stream.workEnded();
  await at.clock.advanceStepwise(3_600_000);
  assert.equal(at.stream.state, 'open');
  get.end();
  await settle();
  await at.clock.advanceStepwise(60_000);
  assert.equal(at.gets.length, 2);
});

test('nothing is asked for before a session is there, and one GET at most at any time', async () => {
  const at = listening({ mode: 'always' });
  at.stream.workBegan();
  assert.equal(at.gets.length, 0);
  at.stream.bind();
  at.stream.workBegan();
  at.stream.workBegan();
  assert.equal(at.gets.length, 1);
  await at.open();
  at.stream.workBegan();
  assert.equal(at.gets.length, 1);
});

test('each delay lies between half and the whole of 2 s x 2^n, at most 60 s', async () => {
  verifies('listen/ended-stream-backs-off');
  for (const [random, share] of [
    [RANDOM.low, 0.5],
    [RANDOM.high, 1],
  ] as const) {
    const at = await listening({ random }).working();
    for (const whole of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      at.last.answer({ status: 503 });
      await settle();
      const asked = at.gets.length;
      await at.clock.advanceStepwise(whole * share - 1);
      assert.equal(at.gets.length, asked, `not before ${whole * share}`);
      await at.clock.advanceStepwise(1);
      assert.equal(at.gets.length, asked + 1);
    }
  }
});

test('R022, R028: streams that end at once without an event are failures: 8 GETs in 60 s at most', async () => {
  verifies('listen/ended-stream-backs-off');
  const at = await listening({ random: RANDOM.low }).working();
  for (let n = 0; n < 600; n += 1) {
    if (at.last.isWaiting) {
      const get = await at.open();
      await at.clock.advanceStepwise(3);
      get.end();
    }
    await at.clock.advanceStepwise(100);
  }
  assert.ok(at.gets.length <= 8, `${at.gets.length} GETs`);
  assert.ok(at.gets.length >= 4, 'and it does not give up');
});

test('the backoff begins anew only after a real event or 30 s of life', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  const delayAfter = async (
    live: (get: Awaited<ReturnType<typeof at.open>>) => void,
    ms: number,
  ): Promise<number> => {
    const get = await at.open();
    live(get);
    await at.clock.advanceStepwise(ms);
    get.end();
    await settle();
    return at.untilNextGet();
  };
  const nothing = (): void => {};
  assert.equal(await delayAfter(nothing, 1_000), 2_000);
  assert.equal(await delayAfter(nothing, 29_999), 4_000);
  assert.equal(await delayAfter((get) => get.id('7'), 1_000), 8_000, 'an id is no event');
  assert.equal(await delayAfter((get) => get.event(), 0), 2_000);
  assert.equal(await delayAfter(nothing, 0), 4_000);
  assert.equal(await delayAfter(nothing, 30_000), 2_000);
});

test('R100: a stream that is cut is asked for again like one that ended', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  const get = await at.open();
  await at.clock.advanceStepwise(300_000);
  get.cut();
  await settle();
  assert.deepEqual(at.events, ['open', 'cut 300000']);
  assert.equal(await at.untilNextGet(), 2_000);
});

test('R032: a GET without an answer is tried again for as long as there is work', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  for (let n = 0; n < 20; n += 1) {
    at.last.fail();
    await settle();
    assert.equal(at.stream.state, 'waiting');
    await at.untilNextGet();
  }
  at.stream.workEnded();
  at.last.fail();
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.gets.length, at.stream.state, at.clock.pending], [21, 'closed', 0]);
});

test('without work an ended stream is not asked for again', async () => {
  verifies('listen/ended-stream-backs-off');
  const at = await listening({ random: RANDOM.high, streamIdleMs: 1_000 }).working();
  const get = await at.open();
  at.stream.workEnded();
  get.end();
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.gets.length, at.clock.pending, at.stream.state], [1, 0, 'closed']);
});

test("the server's retry: is honoured when it is longer than ours, never when it is shorter, ten minutes at most", async () => {
  const at = await listening({ mode: 'always', random: RANDOM.high }).bound();
  const delay = async (ms: number): Promise<number> => {
    const get = await at.open();
    get.retry(ms);
    get.event();
    get.end();
    await settle();
    return at.untilNextGet();
  };
  assert.equal(await delay(20_000), 20_000);
  assert.equal(await delay(1), 2_000);
  assert.equal(await delay(86_400_000), 600_000);
});

test("the server's retry: is honoured across a time without work", async () => {
  const at = await listening({ random: RANDOM.high }).working();
  const get = await at.open();
  get.event();
  get.retry(300_000);
  get.end();
  await settle();
  at.stream.workEnded();
  await at.clock.advanceStepwise(20_000);
  at.stream.workBegan();
  await at.clock.advanceStepwise(279_999);
  assert.equal(at.gets.length, 1, 'it asked to be left alone for five minutes');
  await at.clock.advanceStepwise(1);
  assert.equal(at.gets.length, 2);
});

test('Retry-After of a refused GET is obeyed', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  at.last.answer({ status: 429, retryAfterMs: 45_000 });
  await settle();
  assert.equal(await at.untilNextGet(), 45_000);
  at.last.answer({ status: 503, retryAfterMs: 10 });
  await settle();
  assert.equal(await at.untilNextGet(), 4_000);
});

test('R026, R037: 405, 406, 501, no event stream, 404 or 400 before one worked: never again for this session', async () => {
  verifies('listen/not-offered');
  const notOffered = [
    { status: 405 },
    { status: 406 },
    { status: 501 },
    { status: 200, isEventStream: false },
    { status: 204, isEventStream: false },
    { status: 404 },
    { status: 400 },
  ];
  for (const answer of notOffered) {
    const at = await listening({ mode: 'always' }).working();
    at.last.answer(answer);
    await settle();
    assert.equal(at.stream.state, 'not-offered', String(answer.status));
    assert.equal(at.memory.mayListen(), false, 'nor for its neighbours, for a while');
    assert.equal(at.confirms, 0);
    await at.stream.settled(1_000);
    at.stream.workEnded();
    at.stream.unbind('x');
    at.stream.bind();
    assert.equal(at.gets.length, 1, 'nor for its successor');
    at.stream.workBegan();
    assert.deepEqual([at.gets.length, at.clock.pending], [1, 0]);
  }
});

test('R026: the session that was told so never asks again, its successor may after ten minutes', async () => {
  for (const answer of [{ status: 405 }, { status: 404 }]) {
    const at = await listening().working();
    at.last.answer(answer);
    await at.clock.advanceStepwise(3_600_000);
    at.stream.workBegan();
    assert.deepEqual([at.gets.length, at.clock.pending], [1, 0]);
    at.stream.bind();
    assert.equal(at.gets.length, 2);
  }
});

test('a neighbour that was told so spares this session the question, for ten minutes', async () => {
  const at = listening();
  at.memory.stopListening();
  at.stream.bind();
  at.stream.workBegan();
  assert.equal(at.gets.length, 0);
  await at.stream.settled(1_000);
  await at.clock.advanceStepwise(600_000);
  at.stream.workBegan();
  assert.equal(at.gets.length, 1);
});

test('R037: a 404 after one had worked asks the session itself; when it lives there is just no stream', async () => {
  const at = await listening().working();
  const get = await at.open();
  get.event();
  get.end();
  await settle();
  await at.untilNextGet();
  at.last.answer({ status: 404 });
  await settle();
  assert.equal(at.confirms, 1);
  at.confirm(true);
  await settle();
  assert.deepEqual([at.stream.state, at.clock.pending], ['not-offered', 0]);
});

test('R037: when the session is gone its successor has a stream again', async () => {
  const at = await listening().working();
  (await at.open()).event();
  at.last.end();
  await settle();
  await at.untilNextGet();
  at.last.answer({ status: 404 });
  await settle();
  at.stream.unbind('expired');
  at.stream.bind();
  at.confirm(true);
  await settle();
  assert.deepEqual([at.gets.length, at.stream.state, at.memory.mayListen()], [3, 'connecting', true]);
  await at.open();
  assert.equal(at.stream.state, 'open');
});

test('R037: a ping that says the session is gone leaves the rest to its successor', async () => {
  const at = await listening().working();
  (await at.open()).event();
  at.last.end();
  await settle();
  await at.untilNextGet();
  at.last.answer({ status: 404 });
  await settle();
  at.confirm(false);
  await settle();
  assert.deepEqual([at.stream.state, at.memory.mayListen()], ['waiting', true]);
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.gets.length, at.clock.pending], [2, 0]);
  at.stream.bind();
  assert.equal(at.gets.length, 3);
});

test('R032: a 404 whose ping brings no answer decides nothing: the stream is asked for again', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  (await at.open()).event();
  at.last.end();
  await settle();
  await at.untilNextGet();
  at.last.answer({ status: 404 });
  await settle();
  at.confirm(new Error('ECONNREFUSED'));
  await settle();
  assert.notEqual(at.stream.state, 'not-offered');
  await at.clock.advanceStepwise(60_000);
  assert.equal(at.gets.length, 3);
});

test('R037: a stream that we closed ourselves had worked, with events or without', async () => {
  const at = await listening().working();
  await at.open();
  at.stream.workEnded();
  await at.clock.advanceStepwise(10_000);
  assert.deepEqual(at.events, ['open', 'idle 10000']);
  at.stream.workBegan();
  at.last.answer({ status: 404 });
  await settle();
  assert.equal(at.confirms, 1, 'the session may be gone: the 404 says nothing about streams');
  assert.notEqual(at.stream.state, 'not-offered');
});

test('R019: a 400 after one had worked backs off', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  const get = await at.open();
  await at.clock.advanceStepwise(30_000);
  get.cut();
  await settle();
  await at.untilNextGet();
  at.last.answer({ status: 400 });
  await settle();
  assert.equal(at.stream.state, 'waiting');
  assert.equal(await at.untilNextGet(), 4_000);
  await at.open();
  assert.equal(at.stream.state, 'open');
});

test('what had worked for a neighbour had worked here', async () => {
  const at = listening();
  at.memory.listenWorked = true;
  at.stream.bind();
  at.stream.workBegan();
  at.last.answer({ status: 404 });
  await settle();
  assert.equal(at.confirms, 1);
  const first = await listening().working();
  (await first.open()).event();
  assert.equal(first.memory.listenWorked, true);
});

test('R019: a 409 only backs off, as often as it comes', async () => {
  verifies('listen/conflict-backs-off');
  const at = await listening({ random: RANDOM.high }).working();
  for (const delay of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000]) {
    at.last.answer({ status: 409 });
    await settle();
    assert.equal(await at.untilNextGet(), delay);
  }
  await at.open();
  assert.equal(at.stream.state, 'open');
  assert.equal(at.confirms, 0);
});

test('R025: settled resolves when the stream is open, cannot be had now, or the time is over', async () => {
  verifies('listen/never-touches-calls');
  const at = await listening().working();
  const settled = async (): Promise<boolean> => {
    let done = false;
    void at.stream.settled(1_000).then(() => (done = true));
    await settle();
    return done;
  };
  assert.equal(await settled(), false, 'the GET is under way');
  let late = false;
  void at.stream.settled(1_000).then(() => (late = true));
  await at.clock.advanceStepwise(1_000);
  assert.equal(late, true);
  let opened = false;
  void at.stream.settled(1_000).then(() => (opened = true));
  await at.open();
  assert.deepEqual([opened, await settled()], [true, true]);
  at.last.end();
  await settle();
  assert.deepEqual([at.stream.state, await settled()], ['waiting', true]);
  await at.untilNextGet();
  let refused = false;
  void at.stream.settled(1_000).then(() => (refused = true));
  at.last.answer({ status: 405 });
  await settle();
  assert.deepEqual([refused, await settled()], [true, true]);
  assert.equal(at.clock.pending, 0);
});

test('R025: whoever waits for the stream is let go when it is closed, replaced or stopped', async () => {
  for (const end of ['unbind', 'bind', 'stop'] as const) {
    const at = await listening().working();
    let done = false;
    void at.stream.settled(1_000).then(() => (done = true));
    await settle();
    assert.equal(done, false);
    if (end === 'unbind') at.stream.unbind('expired');
    else at.stream[end]();
    await settle();
    assert.equal(done, true, end);
    assert.equal(at.clock.pending, 0);
  }
});

test('R025, R101: a wait that ran out leaves nothing with a GET that stays unanswered', async () => {
  const at = await listening().working();
  for (let n = 0; n < 50; n += 1) {
    void at.stream.settled(1_000);
    await at.clock.advanceStepwise(1_000);
  }
  at.cancelled.length = 0;
  await at.open();
  assert.equal(at.cancelled.length, 0, 'timers that fired long ago are held no more');
});

test('a POST without headers for 5 s while our stream is open: the stream is closed, the POST goes on', async () => {
  verifies('listen/one-worker');
  const at = await listening().working();
  const get = await at.open();
  at.stream.postSent();
  await at.clock.advanceStepwise(4_999);
  assert.equal(at.stream.state, 'open');
  await at.clock.advanceStepwise(1);
  assert.deepEqual([get.signal.aborted, at.events.at(-1)], [true, 'yielded 5000']);
  assert.equal(at.gets.length, 1, 'not at once again');
});

test('if headers then come, listening is off for that server for ten minutes', async () => {
  verifies('listen/one-worker');
  const at = await listening().working();
  await at.open();
  const post = at.stream.postSent();
  await at.clock.advanceStepwise(5_100);
  post.answered();
  post.answered();
  assert.equal(at.memory.mayListen(), false);
  assert.equal(at.stream.state, 'closed');
  at.stream.workBegan();
  await at.clock.advanceStepwise(599_999);
  at.stream.workBegan();
  assert.equal(at.gets.length, 1);
  await at.clock.advanceStepwise(1);
  at.stream.workBegan();
  assert.equal(at.gets.length, 2);
});

test('headers that come long after do not come because of that: listening goes on', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  await at.open();
  const post = at.stream.postSent();
  await at.clock.advanceStepwise(5_000);
  await at.clock.advanceStepwise(5_001);
  post.answered();
  assert.equal(at.memory.mayListen(), true);
  assert.equal(at.gets.length, 2, 'the stream was asked for again with backoff');
});

test('a POST that is given up moved nothing: listening goes on', async () => {
  const at = await listening().working();
  await at.open();
  const post = at.stream.postSent();
  await at.clock.advanceStepwise(5_100);
  post.gaveUp();
  post.answered();
  assert.equal(at.memory.mayListen(), true);
});

test("a tool that waits for the host's own answer is not starved by our stream", async () => {
  const at = await listening().working();
  await at.open();
  at.options.isHostAsked = true;
  const post = at.stream.postSent();
  await at.clock.advanceStepwise(60_000);
  assert.equal(at.stream.state, 'open');
  post.answered();
  assert.equal(at.memory.mayListen(), true);
});

test('sealed: an open stream stays, one that waits is not asked for again, nor is any other', async () => {
  const open = await listening({ mode: 'always' }).working();
  const get = await open.open();
  open.stream.seal();
  assert.deepEqual([open.stream.state, get.signal.aborted], ['open', false]);
  get.event();
  get.end();
  await open.clock.advanceStepwise(3_600_000);
  assert.deepEqual([open.gets.length, open.stream.state, open.clock.pending], [1, 'closed', 0]);
  const waiting = await listening({ mode: 'always' }).working();
  waiting.last.answer({ status: 503 });
  await settle();
  waiting.stream.seal();
  assert.deepEqual([waiting.stream.state, waiting.clock.pending], ['closed', 0]);
  waiting.stream.workBegan();
  waiting.stream.bind();
  assert.equal(waiting.gets.length, 1);
});

test('R025: of several calls in a row only the first waits for headers that do not come', async () => {
  verifies('listen/never-touches-calls');
  const at = await listening().working();
  void at.stream.settled(1_000);
  await at.clock.advanceStepwise(1_000);
  let done = false;
  void at.stream.settled(1_000).then(() => (done = true));
  await at.clock.advanceStepwise(0);
  at.clock.advance(0);
  await settle();
  assert.equal(done, true);
});

test('a POST that is answered in time, or waits without a stream of ours, closes nothing', async () => {
  const at = await listening({ random: RANDOM.high }).working();
  await at.open();
  const quick = at.stream.postSent();
  await at.clock.advanceStepwise(4_999);
  quick.answered();
  assert.equal(at.clock.pending, 0);
  await at.clock.advanceStepwise(60_000);
  assert.equal(at.stream.state, 'open');
  at.last.end();
  await settle();
  at.stream.postSent();
  at.memory.stopListening();
  await at.clock.advanceStepwise(60_000);
  assert.equal(at.events.at(-1), 'ended 64999');
});

test('the quick answer to another POST says nothing about the one that waits', async () => {
  verifies('listen/one-worker');
  const at = await listening().working();
  await at.open();
  at.stream.postSent();
  await at.clock.advanceStepwise(5_000);
  const other = at.stream.postSent();
  await at.clock.advanceStepwise(50);
  other.answered();
  assert.equal(at.memory.mayListen(), true, 'this server has a worker to spare');
});

test('a server that pings on the stream keeps it while the session lives, once it has worked', async () => {
  const at = await listening().working();
  const get = await at.open();
  at.memory.pingsOnStream = true;
  at.stream.workEnded();
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.stream.state, get.signal.aborted], ['open', false]);
  get.end();
  await settle();
  await at.clock.advanceStepwise(2_000);
  assert.equal(at.gets.length, 2, 'asked for again without work');
  const idle = listening();
  idle.memory.pingsOnStream = true;
  idle.stream.bind();
  assert.equal(idle.gets.length, 0, 'one that never worked needs none');
});

test('R079: the last event id goes with the next GET of the same session, and is forgotten with it', async () => {
  const at = await listening().working();
  assert.equal(at.last.lastEventId, undefined);
  const get = await at.open();
  get.id('7');
  get.id('8');
  get.end();
  await settle();
  await at.untilNextGet();
  assert.equal(at.last.lastEventId, '8');
  at.stream.bind();
  assert.deepEqual([at.gets.length, at.last.lastEventId], [3, undefined]);
  get.id('9');
  at.last.answer({ status: 503 });
  await settle();
  await at.untilNextGet();
  assert.equal(at.last.lastEventId, undefined, 'nor does the old stream bring it back');
});

test('R079: a retry that waits is cancelled by unbind, bind and stop: no GET for a session that is gone', async () => {
  for (const end of ['unbind', 'stop'] as const) {
    const at = await listening({ mode: 'always' }).working();
    at.last.answer({ status: 503 });
    await settle();
    assert.equal(at.stream.state, 'waiting');
    if (end === 'unbind') at.stream.unbind('expired');
    else at.stream.stop();
    assert.deepEqual([at.clock.pending, at.stream.state], [0, 'closed']);
    at.stream.workBegan();
    await at.clock.advanceStepwise(3_600_000);
    assert.equal(at.gets.length, 1);
  }
  const at = await listening({ mode: 'always', random: RANDOM.high }).working();
  at.last.answer({ status: 503 });
  await settle();
  at.stream.bind();
  assert.equal(at.gets.length, 2, 'the new session asks at once');
  await at.clock.advanceStepwise(60_000);
  assert.equal(at.gets.length, 2, 'and the old timer is gone');
  at.last.answer({ status: 503 });
  await settle();
  assert.equal(await at.untilNextGet(), 2_000, 'with a backoff of its own');
});

test('a new session owes nothing to the retry: of the old one', async () => {
  const at = await listening({ mode: 'always', random: RANDOM.high }).bound();
  (await at.open()).retry(300_000);
  at.stream.bind();
  at.last.answer({ status: 503 });
  await settle();
  assert.equal(await at.untilNextGet(), 2_000);
});

test('an open stream is closed by unbind, bind and stop, and its end is told once', async () => {
  for (const [end, reason] of [
    ['unbind', 'expired'],
    ['bind', 're-opened'],
    ['stop', 'stopped'],
  ] as const) {
    const at = await listening().working();
    const get = await at.open();
    await at.clock.advanceStepwise(40);
    if (end === 'unbind') at.stream.unbind('expired');
    else at.stream[end]();
    await settle();
    assert.equal(get.signal.aborted, true);
    assert.deepEqual(at.events, ['open', `${reason} 40`]);
  }
});

test('an answer that comes after the stream was let go is nobody’s', async () => {
  for (const answer of [
    { status: 200, isEventStream: true },
    { status: 405 },
    { status: 503 },
    { status: 404 },
  ]) {
    const at = await listening().working();
    const late = at.last;
    at.stream.unbind('expired');
    late.answer(answer, { deaf: true });
    await settle();
    assert.deepEqual(
      [at.stream.state, at.events, at.clock.pending, at.confirms, at.memory.mayListen()],
      ['closed', [], 0, 0, true],
    );
  }
});

test('after stop nothing opens it again', async () => {
  const at = await listening({ mode: 'always' }).working();
  await at.open();
  at.stream.workEnded();
  at.stream.stop();
  at.stream.stop();
  at.stream.bind();
  at.stream.workBegan();
  at.stream.workEnded();
  await at.stream.settled(1_000);
  await at.clock.advanceStepwise(3_600_000);
  assert.deepEqual([at.gets.length, at.clock.pending, at.stream.state], [1, 0, 'closed']);
});

test('stop cancels the time that an idle stream had left', async () => {
  const at = await listening().working();
  await at.open();
  at.stream.workEnded();
  assert.equal(at.clock.pending, 1);
  at.stream.stop();
  assert.equal(at.clock.pending, 0);
});

test('a session that is replaced within streamIdleMs after its work listens on, and no longer', async () => {
  const at = await listening().working();
  await at.open();
  at.stream.workEnded();
  await at.clock.advanceStepwise(4_000);
  at.stream.unbind('expired');
  at.stream.bind();
  await at.open();
  assert.deepEqual([at.gets.length, at.stream.state], [2, 'open']);
  await at.clock.advanceStepwise(6_000);
  assert.deepEqual([at.stream.state, at.clock.pending], ['closed', 0]);
});

test('streamIdleMs is read when it is needed: a reload may change it', async () => {
  const at = await listening().working();
  await at.open();
  at.options.streamIdleMs = 100;
  at.stream.workEnded();
  await at.clock.advanceStepwise(100);
  assert.equal(at.stream.state, 'closed');
});

test('R101: 1,440 streams that are cut after a minute leave no timer, and one GET each', async () => {
  const at = await listening({ random: RANDOM.low }).working();
  for (let n = 0; n < 1_440; n += 1) {
    const get = await at.open();
    at.stream.postSent().answered();
    at.clock.advance(59_000);
    get.cut();
    await settle();
    assert.equal(at.clock.pending, 1);
    at.clock.advance(1_000);
  }
  assert.equal(at.gets.length, 1_441);
  at.stream.stop();
  assert.equal(at.clock.pending, 0);
});
