import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMooringError } from '../../../src/errors.js';
import { createInboundTable } from '../../../src/session/inbound/table.js';
import { fixture } from './fixture.js';

const MINUTE = 60_000;
const stream = { ping: () => true, close: () => {} };

test('R002: of 287 sessions the 273 that never work are gone at 30 min and not before; the 14 that work live', async () => {
  const { clock, open, work, table } = fixture({ maxPerPrincipal: 1_000 });
  const sessions = Array.from({ length: 287 }, () => open('one agent process'));
  const working = sessions.filter((_, n) => n % 20 === 7);
  assert.equal(working.length, 14);
  for (const session of sessions) await session.listen(stream);

  for (let minute = 1; minute < 30; minute++) {
    clock.advance(MINUTE);
    for (const session of sessions) session.beginRequest(minute, 'ping')?.end(200);
    if (minute % 10 === 0) for (const session of working) work(session);
  }
  clock.advance(MINUTE - 1);
  assert.equal(table.size, 287);
  assert.deepEqual([table.stats().ghosts, table.stats().streams], [273, 287]);

  clock.advance(1);
  assert.equal(table.size, 14);
  assert.deepEqual(table.stats(), {
    fresh: 0,
    active: 0,
    idle: 14,
    dormant: 0,
    ghosts: 0,
    streams: 14,
    principals: 1,
    reserved: 0,
    opened: 287,
    ended: { idle: 273 },
    refused: 0,
    strangers: 0,
  });
  for (const session of working) assert.equal(table.find(session.id, 'one agent process'), session);

  clock.advance(20 * MINUTE - 1);
  assert.equal(table.size, 14, 'their last work was at 20 min');
  clock.advance(1);
  assert.deepEqual([table.size, clock.pending], [0, 0]);
});

test('the defaults keep that agent to 100 sessions from the start', () => {
  const { open, table } = fixture();
  for (let n = 0; n < 287; n++) open('one agent process');
  assert.deepEqual([table.size, table.stats().ended], [100, { evicted: 187 }]);
});

test("R061, R062: another principal's id is as unknown as any, ends nothing and is counted", () => {
  const { open, table } = fixture();
  const session = open('u1');
  assert.equal(table.find(session.id, 'u2'), undefined);
  assert.equal(table.find('never issued', 'u2'), undefined);
  assert.equal(session.state, 'idle');
  assert.equal(table.find(session.id, 'u1'), session);
  assert.equal(table.stats().strangers, 1);
});

test('stats is a frozen snapshot', () => {
  const { clock, fresh, open, table } = fixture({ onIdle: 'sleep', idleMs: 1_000 });
  open();
  clock.advance(1_000);
  fresh();
  open();
  open().beginRequest(1, 'tools/call');
  const before = table.stats();
  assert.deepEqual([before.fresh, before.active, before.idle, before.dormant], [1, 1, 1, 1]);
  assert.ok(Object.isFrozen(before) && Object.isFrozen(before.ended));
  void table.close();
  assert.equal(before.idle, 1);
});

test('close ends everything with one reason and waits for releases that take their time', async () => {
  const { clock, errors, open, reserve, table } = fixture();
  let settle: () => void = () => {};
  const session = open();
  session.own(() => new Promise<void>((resolve) => void (settle = resolve)));
  session.own(() => Promise.reject(new Error('release')));
  open('q').beginRequest(1, 'tools/call');
  reserve();
  let isClosed = false;
  const closed = table.close('drained').then(() => void (isClosed = true));
  assert.deepEqual([table.size, table.stats().reserved, clock.pending], [0, 0, 0]);
  assert.deepEqual(table.stats().ended, { drained: 2 });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isClosed, false);
  settle();
  await closed;
  await table.close();
  assert.equal(errors.length, 1);
});

test('two tables share nothing', () => {
  const one = fixture({ maxSessions: 1 });
  const two = fixture({ maxSessions: 1 });
  const session = one.open();
  two.open();
  assert.equal(session.endReason, undefined);
  assert.equal(two.table.find(session.id, 'p') === session, false);
});

test('bounds that are no bounds are refused when the table is made', () => {
  for (const name of [
    'idleMs',
    'initializeMs',
    'answerMs',
    'maxAgeMs',
    'maxSessions',
    'maxPerPrincipal',
  ] as const) {
    for (const value of [0, -1, Number.NaN]) {
      assert.throws(
        () => createInboundTable({ label: 'x', fingerprint: () => '', [name]: value }),
        (error) =>
          isMooringError(error) && error.code === 'MOORING_BAD_OPTIONS' && error.message.includes(name),
      );
    }
  }
});

test('without options: ids from crypto.randomUUID on the real clock', async () => {
  const table = createInboundTable({ label: 'x', fingerprint: () => 'fp' });
  const admission = table.reserve('p');
  assert.ok('reservation' in admission);
  const session = admission.reservation.commit({ protocolVersion: '2025-11-25' });
  assert.match(session.id, /^[0-9a-f-]{36}$/);
  await table.close();
});
