import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMooringError } from '../../../src/errors.js';
import { fixture, refusalOf, VERSION } from './fixture.js';

const FACTS = { protocolVersion: VERSION };

test('any number of parallel initialize never goes above the cap', () => {
  const { table } = fixture({ maxSessions: 4 });
  const admissions = Array.from({ length: 50 }, (_, n) => table.reserve(`p${n}`));
  const places = admissions.flatMap((admission) =>
    'reservation' in admission ? [admission.reservation] : [],
  );
  assert.equal(places.length, 4);
  assert.equal(table.stats().refused, 46);
  for (const place of places) place.commit(FACTS);
  assert.equal(table.size, 4);
});

test("the same for one principal's cap, which others do not feel", () => {
  const { table, reserve } = fixture({ maxPerPrincipal: 2 });
  const places = [reserve('p'), reserve('p')];
  const { status, headers } = refusalOf(table.reserve('p'));
  assert.deepEqual([status, headers['retry-after']], [503, '30']);
  reserve('q').commit(FACTS);
  for (const place of places) place.commit(FACTS);
  assert.equal(table.size, 3);
});

test('R118, R119: at the own cap the least recently working goes, not the oldest, and pings and streams save nobody', async () => {
  const { clock, open, work, fresh } = fixture({ maxPerPrincipal: 3 });
  const oldButWorking = open();
  const pinging = open();
  const listening = open();
  await listening.listen({ ping: () => true, close: () => {} });
  clock.advance(1_000);
  work(oldButWorking);
  pinging.beginRequest(1, 'ping')?.end(200);
  fresh();
  assert.equal(pinging.endReason, 'evicted');
  fresh();
  assert.equal(listening.endReason, 'evicted');
  assert.equal(oldButWorking.endReason, undefined);
});

test("R056, R119: a full table takes the caller's own idle one, then anybody's after 300 s, never one in flight, else 503", () => {
  const { clock, open, fresh, table } = fixture({ maxSessions: 3 });
  const busy = open('a');
  busy.beginRequest(1, 'tools/call');
  const idle = open('a');
  const mine = open('b');
  fresh('b').initialized();
  assert.equal(mine.endReason, 'evicted', 'own first, although the other one is older');
  clock.advance(299_000);
  const refusal = refusalOf(table.reserve('c'));
  assert.deepEqual(
    [refusal.status, refusal.code, refusal.headers['retry-after']],
    [503, 'MOORING_TABLE_FULL', '1'],
  );
  assert.equal(idle.endReason, undefined);
  clock.advance(1_000);
  fresh('c');
  assert.equal(idle.endReason, 'evicted');
  assert.equal(busy.endReason, undefined);
});

test('R118: the globally least recent is the one whose last work is the longest ago, not the oldest', () => {
  const { clock, open, fresh, work } = fixture({ maxSessions: 3 });
  const [oldButWorking, second, third] = [open('a'), open('b'), open('c')];
  clock.advance(1_000);
  work(oldButWorking);
  clock.advance(1_000);
  work(third);
  clock.advance(300_000);
  fresh('d').initialized();
  assert.equal(second.endReason, 'evicted');
  fresh('e').initialized();
  assert.equal(oldButWorking.endReason, 'evicted');
  assert.equal(third.endReason, undefined);
});

test('one that had been idle for 300 s and has just begun a call is in flight, and stays', () => {
  const { clock, open, table } = fixture({ maxSessions: 1 });
  const session = open('a');
  clock.advance(300_000);
  session.beginRequest(1, 'tools/call');
  assert.equal(refusalOf(table.reserve('b')).headers['retry-after'], '10');
  assert.equal(session.endReason, undefined);
});

test('Retry-After of a full table says when its first session may go', () => {
  const { clock, open, table } = fixture({ maxSessions: 1 });
  open('a');
  clock.advance(260_000);
  assert.equal(refusalOf(table.reserve('b')).headers['retry-after'], '40');
});

test('a session that is owed an answer, or runs a task, is in flight too', () => {
  const { clock, open, table } = fixture({ maxSessions: 2 });
  open('a').owesAnswer('elicit-1');
  open('a').beginTask('task-1', 600_000);
  clock.advance(599_999);
  refusalOf(table.reserve('a'));
  clock.advance(1);
  assert.ok('reservation' in table.reserve('a'), 'the task has outlived its ttl');
});

test('only confirm evicts: a request that turns out to be no initialize, or is aborted, costs nobody a session', () => {
  const { clock, open, reserve } = fixture({ maxSessions: 1 });
  const session = open();
  reserve().release();
  reserve();
  clock.advance(30_000);
  assert.equal(session.endReason, undefined);
  assert.equal(reserve().confirm(), undefined);
  assert.equal(session.endReason, 'evicted');
});

test('a victim that has become busy between reservation and confirm is spared; the newcomer gets 503', () => {
  const { open, reserve, table } = fixture({ maxSessions: 1 });
  const session = open();
  const late = reserve();
  const released: string[] = [];
  late.own(() => void released.push('r'));
  session.beginRequest(1, 'tools/call');
  assert.throws(
    () => late.commit(FACTS),
    (error) => isMooringError(error) && error.code === 'MOORING_TABLE_FULL',
  );
  assert.equal(session.endReason, undefined);
  assert.deepEqual([released, table.stats().reserved, table.size], [['r'], 0, 1]);
});

test('R053: an initialize whose body does not come is given up after initializeMs, and its connection told', () => {
  const { clock, reserve, table } = fixture();
  const place = reserve();
  clock.advance(29_999);
  assert.equal(place.signal.aborted, false);
  clock.advance(1);
  assert.equal(place.signal.aborted, true);
  assert.equal(table.stats().reserved, 0);
  assert.equal(place.confirm()?.status, 503);
  assert.throws(
    () => place.commit(FACTS),
    (error) => isMooringError(error) && error.code === 'MOORING_CLOSED',
  );
  assert.deepEqual([table.size, clock.pending], [0, 0]);
});

test('R053: the body starts the time for the answer anew', () => {
  const { clock, reserve } = fixture();
  const place = reserve();
  clock.advance(29_000);
  place.confirm();
  clock.advance(29_000);
  assert.equal(place.signal.aborted, false);
  clock.advance(1_000);
  assert.equal(place.signal.aborted, true);
});

test('R055: what was created before there is an id is released with the reservation, or later with the session', () => {
  const { clock, reserve } = fixture();
  const log: string[] = [];
  const failed = reserve();
  failed.own(() => void log.push('browser of the failed one'));
  failed.release();
  failed.release();
  failed.own(() => void log.push('came too late'));
  assert.deepEqual(log, ['browser of the failed one', 'came too late']);

  const good = reserve();
  good.own(() => void log.push('browser of the good one'));
  const session = good.commit(FACTS);
  good.release();
  assert.equal(log.length, 2, 'release after commit does nothing');
  session.end('deleted');
  assert.deepEqual(log.slice(2), ['browser of the good one']);
  assert.equal(clock.pending, 0);
});

test('an id that no header can carry, or that is in use, makes no session, and the reservation is still released', () => {
  for (const mintId of [() => 'has space', () => '', () => 'é', () => 'x'.repeat(8_193)]) {
    const { clock, reserve, table } = fixture({ mintId });
    const place = reserve();
    assert.throws(
      () => place.commit(FACTS),
      (error) => isMooringError(error) && error.code === 'MOORING_BAD_OPTIONS',
    );
    place.release();
    assert.deepEqual([table.size, table.stats().reserved, clock.pending], [0, 0, 0]);
  }
  const { fresh, reserve, table } = fixture({ mintId: () => 'same' });
  const session = fresh();
  assert.throws(() => reserve().commit(FACTS));
  assert.equal(table.find('same', 'p'), session);
});

test('an id that exists already can be given, so that a sealed one comes back', () => {
  const { reserve, table } = fixture();
  const session = reserve().commit({ ...FACTS, id: 'sealed' });
  assert.equal(table.find('sealed', 'p'), session);
});

test('after close nothing is reserved any more', async () => {
  const { table, reserve, clock } = fixture();
  const place = reserve();
  await table.close();
  assert.equal(place.signal.aborted, true);
  assert.equal(refusalOf(table.reserve('p')).code, 'MOORING_CLOSED');
  assert.equal(clock.pending, 0);
});

test('an evicted session whose release closes the table leaves no session behind it', () => {
  const { table, open, reserve } = fixture({ maxSessions: 1 });
  open().own(() => void table.close());
  assert.throws(
    () => reserve().commit(FACTS),
    (error) => isMooringError(error) && error.code === 'MOORING_CLOSED',
  );
  assert.deepEqual([table.size, table.stats().reserved], [0, 0]);
});
