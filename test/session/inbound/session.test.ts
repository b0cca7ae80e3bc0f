import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANNEL_NAMES, type SessionEvent } from '../../../src/events.js';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { fixture, VERSION } from './fixture.js';

const MINUTE = 60_000;

test('R053: initialize answered and never initialized: gone after initializeMs, ping or not', () => {
  const { clock, fresh, table } = fixture();
  const session = fresh();
  session.beginRequest(1, 'ping')?.end(200);
  clock.advance(29_999);
  assert.equal(session.state, 'fresh');
  clock.advance(1);
  assert.deepEqual([session.state, session.endReason], ['ended', 'gone']);
  assert.deepEqual([table.size, clock.pending], [0, 0]);
});

test('a client that skips initialized and works is taken as initialized', () => {
  const { clock, fresh, work } = fixture();
  const session = fresh();
  work(session);
  clock.advance(30_000);
  assert.equal(session.state, 'idle');
});

test('only work moves the idle clock: pings, refused requests, responses, notifications and GETs do not', () => {
  const { clock, open, work } = fixture();
  const session = open();
  clock.advance(10 * MINUTE);
  work(session);
  for (let minute = 1; minute < 30; minute++) {
    clock.advance(MINUTE);
    session.beginRequest(minute, 'ping')?.end(200);
    session.beginRequest(minute, 'tools/call')?.end(404);
    session.beginRequest(minute, 'tools/call')?.end(undefined);
    session.answered(minute);
    session.initialized();
    session.exchangeOf(minute);
    void session.listen({ ping: () => true, close: () => {} });
  }
  assert.equal(session.lastWorkAt, 10 * MINUTE);
  clock.advance(MINUTE - 1);
  assert.equal(session.state, 'idle');
  clock.advance(1);
  assert.equal(session.endReason, 'idle');
});

test('R112: the idle clock starts at the end of the last request, and never cuts one', () => {
  const { clock, open } = fixture({ idleMs: 30_000 });
  const session = open();
  const call = session.beginRequest(1, 'tools/call');
  clock.advance(45_000);
  assert.equal(session.state, 'active');
  call?.end(200);
  clock.advance(29_999);
  assert.equal(session.state, 'idle');
  clock.advance(1);
  assert.equal(session.endReason, 'idle');
});

test('a server request holds the clock until it is answered, and for answerMs at most (R082: unknown ones are dropped)', () => {
  const { clock, open } = fixture({ idleMs: 30_000 });
  const answering = open();
  const silent = open();
  answering.owesAnswer('e1');
  silent.owesAnswer('e1');
  clock.advance(40_000);
  assert.equal(answering.state, 'active');
  assert.equal(answering.answered('e2'), false);
  assert.equal(answering.answered('e1'), true);
  assert.equal(answering.answered('e1'), false);
  assert.equal(answering.state, 'idle');
  clock.advance(30_000);
  assert.equal(answering.endReason, 'idle');
  clock.advance(3_600_000 - 70_000);
  assert.equal(silent.state, 'idle', 'nobody told it: the answer ran out');
  clock.advance(30_000);
  assert.equal(silent.endReason, 'idle');
});

test('a task holds the clock until it is terminal, at most its ttl', () => {
  const { clock, open } = fixture({ idleMs: 30_000 });
  const ended = open();
  const forgotten = open();
  ended.beginTask('t', 100_000);
  forgotten.beginTask('t', 100_000);
  clock.advance(50_000);
  ended.endTask('t');
  clock.advance(30_000);
  assert.equal(ended.endReason, 'idle');
  clock.advance(20_000);
  assert.equal(forgotten.state, 'idle');
  clock.advance(30_000);
  assert.equal(forgotten.endReason, 'idle');
});

test('a ghost is a session without work after its first minute', () => {
  const { clock, open, work, table } = fixture();
  const session = open();
  session.beginRequest(1, 'ping')?.end(200);
  clock.advance(59_999);
  assert.equal(session.isGhost, false);
  clock.advance(1);
  assert.equal(session.isGhost, true);
  assert.equal(table.stats().ghosts, 1);
  work(session);
  assert.equal(session.isGhost, false);
});

test('asleep: what it held is released, the id stays good, only work wakes it', () => {
  const log: string[] = [];
  const { clock, open, work, table } = fixture({
    onIdle: 'sleep',
    onSleep: () => log.push('sleep'),
    onWake: () => log.push('wake'),
  });
  const session = open();
  session.own(() => void log.push('session released'));
  session.ownWhileAwake(() => void log.push('upstream released'));
  clock.advance(30 * MINUTE);
  assert.equal(session.state, 'dormant');
  assert.deepEqual(log.splice(0), ['upstream released', 'sleep']);
  session.ownWhileAwake(() => void log.push('came too late'));
  assert.deepEqual(log.splice(0), ['came too late']);

  const ping = session.beginRequest(1, 'ping');
  assert.equal(ping?.woke, false);
  ping?.end(200);
  session.owesAnswer('e1');
  session.beginTask('t');
  session.initialized();
  clock.advance(365 * 24 * 60 * MINUTE);
  assert.deepEqual([session.state, session.inFlight, log.length], ['dormant', 0, 0]);
  assert.equal(table.find(session.id, 'p'), session);

  const call = session.beginRequest(2, 'tools/call');
  assert.equal(call?.woke, true);
  session.ownWhileAwake(() => void log.push('upstream 2 released'));
  call?.end(200);
  assert.deepEqual([session.state, log.splice(0)], ['idle', ['wake']]);
  work(session);
  clock.advance(30 * MINUTE);
  assert.deepEqual(log.splice(0), ['upstream 2 released', 'sleep']);
  session.end('deleted');
  assert.deepEqual(log, ['session released']);
  assert.equal(clock.pending, 0);
});

test('a request that was no work after all lets a dormant session go back to sleep at once', () => {
  const { clock, open } = fixture({ onIdle: 'sleep' });
  const session = open();
  clock.advance(30 * MINUTE);
  session.beginRequest(1, 'tools/call')?.end(400);
  clock.advance(0);
  assert.equal(session.state, 'dormant');
  assert.equal(clock.pending, 0);
});

test('a session that was never initialized is not put to sleep but ended', () => {
  const { clock, fresh } = fixture({ onIdle: 'sleep', idleMs: 1_000 });
  const session = fresh();
  clock.advance(1_000);
  assert.equal(session.endReason, 'idle');
});

test('max-age ends an old session, dormant or not, but never what is in flight', () => {
  const { clock, open } = fixture({ maxAgeMs: 60 * MINUTE, onIdle: 'sleep' });
  const asleep = open();
  const busy = open();
  const call = busy.beginRequest(1, 'tools/call');
  clock.advance(60 * MINUTE);
  assert.equal(asleep.endReason, 'max-age');
  assert.equal(busy.state, 'active');
  clock.advance(90 * MINUTE);
  call?.end(200);
  clock.advance(MINUTE);
  assert.equal(busy.endReason, 'max-age');
  assert.equal(clock.pending, 0);
});

test('R017: after its end nothing touches a session, and late answers do not bring it back', async () => {
  const { clock, open, table } = fixture();
  const session = open();
  const call = session.beginRequest(1, 'tools/call');
  assert.equal(session.end('deleted'), true);
  assert.equal(session.end('idle'), false);
  assert.equal(session.exchangeOf(1), undefined);
  call?.end(200);
  session.initialized();
  session.owesAnswer('e');
  session.beginTask('t');
  session.endTask('t');
  assert.equal(session.beginRequest(2, 'tools/call'), undefined);
  assert.equal(session.answered('e'), false);
  assert.equal((await session.listen({ ping: () => true, close: () => {} })).granted, false);
  const late: string[] = [];
  session.own(() => void late.push('own'));
  session.ownWhileAwake(() => void late.push('awake'));
  assert.deepEqual(late, ['own', 'awake']);
  assert.deepEqual([session.state, session.endReason, session.inFlight], ['ended', 'deleted', 0]);
  assert.equal(table.find(session.id, 'p'), undefined);
  assert.deepEqual([table.size, clock.pending], [0, 0]);
  assert.deepEqual(table.stats().ended, { deleted: 1 });
});

test('one end runs every release once, whatever throws on the way', () => {
  const { clock, errors, open, table } = fixture({
    onEnd: () => {
      throw new Error('hook');
    },
  });
  const session = open();
  const log: string[] = [];
  session.own(() => void log.push('first'));
  session.own(() => {
    session.end('idle');
    log.push('second');
    throw new Error('release');
  });
  session.ownWhileAwake(() => void log.push('awake'));
  session.end('deleted');
  assert.deepEqual(log, ['awake', 'second', 'first']);
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['hook', 'release'],
  );
  assert.deepEqual([table.size, clock.pending], [0, 0]);
});

test('R064: events name a fingerprint and the reason, never the id', async () => {
  const seen: { name: string; event: SessionEvent }[] = [];
  const listen = (event: unknown, name: string | symbol) =>
    seen.push({ name: String(name), event: event as SessionEvent });
  for (const name of CHANNEL_NAMES) subscribe(name, listen);
  try {
    const { clock, reserve } = fixture({ fingerprint: () => 'abc123', mintId: () => 'secret-id' });
    const session = reserve().commit({ protocolVersion: VERSION });
    await session.listen({ ping: () => true, close: () => {} });
    clock.advance(1_000);
    session.end('deleted');
  } finally {
    for (const name of CHANNEL_NAMES) unsubscribe(name, listen);
  }
  assert.deepEqual(seen, [
    { name: 'mooring:session:opened', event: { server: '/mcp', session: 'abc123' } },
    { name: 'mooring:stream:opened', event: { server: '/mcp', session: 'abc123' } },
    { name: 'mooring:stream:closed', event: { server: '/mcp', session: 'abc123' } },
    {
      name: 'mooring:session:terminated',
      event: { server: '/mcp', session: 'abc123', reason: 'deleted', durationMs: 1_000 },
    },
  ]);
});
