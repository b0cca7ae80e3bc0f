import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixture } from './fixture.js';
import { listenRefused } from '../../../src/session/inbound/refusal.js';

function stream(ping: 'ok' | 'dead' | 'throws' = 'ok') {
  const pings: string[] = [];
  const closed: string[] = [];
  return {
    pings,
    closed,
    ping(id: string) {
      pings.push(id);
      if (ping === 'throws') throw new Error('write after end');
      return ping === 'ok';
    },
    close: (why: string) => void closed.push(why),
  };
}

test('the first GET gets the slot, and gives it back when its response ends', async () => {
  const { open, table } = fixture();
  const session = open();
  const verdict = await session.listen(stream());
  assert.ok(verdict.granted);
  assert.equal(table.stats().streams, 1);
  verdict.closed();
  verdict.closed();
  assert.equal(table.stats().streams, 0);
  assert.equal(session.state, 'idle', 'the session goes on');
});

test('a second GET challenges the first: answered within 3 s, the newcomer gets 409 (R023: and nobody else anything)', async () => {
  const { clock, open } = fixture();
  const session = open();
  const first = stream();
  const second = stream();
  await session.listen(first);
  const verdict = session.listen(second);
  clock.advance(2_999);
  assert.equal(first.pings.length, 1);
  assert.equal(session.answered(first.pings[0] ?? ''), true);
  const settled = await verdict;
  assert.deepEqual(settled, { granted: false, why: 'alive' });
  assert.ok(!settled.granted);
  assert.equal(listenRefused(settled.why).status, 409);
  assert.deepEqual([first.closed, second.closed], [[], []]);
  assert.equal(session.isListening, true);
  assert.equal(session.endReason, undefined);
});

test('not answered within 3 s: the newcomer takes over, and a late answer changes nothing', async () => {
  const { clock, open } = fixture();
  const session = open();
  const first = stream();
  const second = stream();
  const held = await session.listen(first);
  const verdict = session.listen(second);
  clock.advance(3_000);
  assert.equal((await verdict).granted, true);
  assert.deepEqual([first.closed, second.closed], [['taken-over'], []]);
  assert.equal(session.answered(first.pings[0] ?? ''), false);
  assert.ok(held.granted);
  held.closed();
  assert.equal(
    session.isListening,
    true,
    'the end of the old response does not free the slot of the new one',
  );
});

for (const how of ['dead', 'throws'] as const) {
  test(`a first stream that is ${how} when pinged is taken over at once`, async () => {
    const { clock, open } = fixture();
    const session = open();
    const before = clock.pending;
    await session.listen(stream(how));
    assert.equal((await session.listen(stream())).granted, true);
    assert.equal(clock.pending, before, 'the timer of the challenge is gone');
  });
}

test('the first stream ends during the challenge: the newcomer has the slot at once', async () => {
  const { clock, open } = fixture();
  const session = open();
  const before = clock.pending;
  const held = await session.listen(stream());
  const verdict = session.listen(stream());
  assert.ok(held.granted);
  held.closed();
  assert.equal((await verdict).granted, true);
  assert.equal(clock.pending, before);
});

test('a third GET during the challenge is refused at once; a newcomer that goes away ends the challenge', async () => {
  const { clock, open } = fixture();
  const session = open();
  const first = stream();
  await session.listen(first);
  const before = clock.pending;
  const gone = new AbortController();
  const verdict = session.listen(stream(), gone.signal);
  assert.deepEqual(await session.listen(stream()), { granted: false, why: 'challenged' });
  gone.abort();
  assert.deepEqual(await verdict, { granted: false, why: 'aborted' });
  assert.equal(clock.pending, before);
  clock.advance(3_000);
  assert.deepEqual(first.closed, []);
});

test('the signal gives the slot back after the verdict too', async () => {
  const { open } = fixture();
  const session = open();
  const request = new AbortController();
  await session.listen(stream(), request.signal);
  assert.equal(session.isListening, true);
  request.abort();
  assert.equal(session.isListening, false);
});

test('more than 6 GETs a minute: 409 at once, without a ping; a client that never stops still gets 6 a minute', async () => {
  const { clock, open } = fixture();
  const session = open();
  let granted = 0;
  for (let second = 0; second < 120; second++) {
    const verdict = await session.listen(stream());
    if (verdict.granted) {
      granted++;
      verdict.closed();
    } else assert.equal(verdict.why, 'rate');
    clock.advance(1_000);
  }
  assert.equal(granted, 12);
});

test('R022: the session ends during the challenge: the newcomer gets 404 before any header', async () => {
  const { open } = fixture();
  const session = open();
  const first = stream();
  await session.listen(first);
  const verdict = session.listen(stream());
  session.end('deleted');
  const settled = await verdict;
  assert.deepEqual(settled, { granted: false, why: 'session-ended' });
  assert.ok(!settled.granted);
  assert.equal(listenRefused(settled.why).status, 404);
  assert.deepEqual(first.closed, ['session-ended']);
  assert.deepEqual(await session.listen(stream()), { granted: false, why: 'session-ended' });
});

test('a close that throws is reported and holds nothing up', async () => {
  const { clock, errors, open } = fixture();
  const session = open();
  await session.listen({
    ping: () => true,
    close: () => {
      throw new Error('socket');
    },
  });
  const released: string[] = [];
  session.own(() => void released.push('r'));
  session.end('deleted');
  assert.deepEqual(released, ['r']);
  assert.equal(errors.length, 1);
  assert.equal(clock.pending, 0);
});
