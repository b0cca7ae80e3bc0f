import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EndReason } from '../../../src/events.js';
import type { Reservation } from '../../../src/session/inbound/admission.js';
import { EVICT_OTHERS_AFTER_MS } from '../../../src/session/inbound/eviction.js';
import type { Exchange } from '../../../src/session/inbound/exchanges.js';
import { routeInbound } from '../../../src/session/inbound/route.js';
import type { InboundSession } from '../../../src/session/inbound/session.js';
import { fixture, VERSION } from './fixture.js';

// Random orders of everything that can happen to a table, against a model that knows only what it did itself.

const MAX_PER_PRINCIPAL = 3;
const IDLE_MS = 400_000;
const INITIALIZE_MS = 30_000;
const ANSWER_MS = 600_000;

const index = fc.nat({ max: 40 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('reserve' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('confirm' as const), n: index }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('commit' as const), n: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), n: index }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('initialized' as const), n: index }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('call' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ping' as const), n: index }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('finish' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('owe' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), n: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('task' as const), n: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('task-over' as const), n: index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('get' as const), n: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('get-ends' as const), n: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pong' as const), n: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), n: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stranger' as const), n: index }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      n: fc.constantFrom(0, 1, 1_000, 3_000, 29_999, 30_000, 100_000, 299_999, 300_000, 400_000),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  session: InboundSession;
  principal: string;
  lastWorkAt: number;
  calls: Set<Exchange>;
  /** What else is in flight, and until when. */
  bounded: Map<string, number>;
  released: number;
  /** Its reservation: what that owned is released with the session. */
  reserved: { released: number };
  awakeHeld: number;
  awakeReleased: number;
  streams: { isOpen: boolean; pings: string[]; closed?: () => void }[];
  ends: EndReason[];
}

interface Settings {
  maxSessions: number;
  onIdle: 'end' | 'sleep';
  finish: 'close' | 'delete';
}

async function run(steps: readonly Step[], { maxSessions, onIdle, finish }: Settings) {
  const known: Known[] = [];
  const byId = new Map<string, Known>();
  const places: { place: Reservation; principal: string; released: number; isConfirmed: boolean }[] = [];
  let confirming: string | undefined;

  const { clock, errors, table } = fixture({
    maxSessions,
    maxPerPrincipal: MAX_PER_PRINCIPAL,
    idleMs: IDLE_MS,
    initializeMs: INITIALIZE_MS,
    answerMs: ANSWER_MS,
    onIdle,
    onEnd(session, reason) {
      const one = byId.get(session.id);
      assert.ok(one);
      one.ends.push(reason);
      if (reason === 'evicted') onEvicted(one);
      if (reason === 'idle') {
        assert.equal(inFlight(one), 0, 'ended for idleness with something in flight');
        assert.ok(clock.now() - one.lastWorkAt >= IDLE_MS, 'ended for idleness too early');
      }
    },
    onWake: (session) => holdWhileAwake(session),
  });

  const inFlight = (one: Known): number => {
    let n = one.calls.size;
    for (const until of one.bounded.values()) if (until > clock.now()) n++;
    return n;
  };
  const live = (): Known[] => known.filter((one) => one.ends.length === 0);

  const onEvicted = (victim: Known): void => {
    assert.ok(confirming !== undefined, 'evicted for nobody');
    assert.equal(inFlight(victim), 0, 'evicted with something in flight');
    // The victim is in `ends` already.
    const others = live().filter((one) => inFlight(one) === 0);
    const own = others.filter((one) => one.principal === confirming);
    if (victim.principal === confirming) {
      for (const one of own)
        assert.ok(victim.lastWorkAt <= one.lastWorkAt, 'not the least recent of its own');
      return;
    }
    assert.equal(own.length, 0, "evicted another principal's with an idle one of its own there");
    assert.ok(clock.now() - victim.lastWorkAt >= EVICT_OTHERS_AFTER_MS, 'evicted before 300 s');
  };

  const holdWhileAwake = (session: InboundSession): void => {
    const one = byId.get(session.id);
    assert.ok(one);
    one.awakeHeld++;
    session.ownWhileAwake(() => {
      one.awakeReleased++;
      throw new Error('a release that throws stops no other');
    });
  };

  const commit = (n: number): void => {
    const at = places.length === 0 ? -1 : n % places.length;
    const entry = places[at];
    if (entry === undefined) return;
    places.splice(at, 1);
    confirming = entry.principal;
    let session: InboundSession;
    try {
      session = entry.place.commit({ protocolVersion: VERSION });
    } catch {
      assert.equal(entry.released, 1, 'a reservation that becomes no session releases what it owns');
      return;
    } finally {
      confirming = undefined;
    }
    assert.equal(byId.has(session.id), false);
    assert.equal(entry.released, 0, 'what the reservation owned is the session’s now');
    const one: Known = {
      session,
      principal: entry.principal,
      lastWorkAt: clock.now(),
      calls: new Set(),
      bounded: new Map(),
      released: 0,
      reserved: entry,
      awakeHeld: 0,
      awakeReleased: 0,
      streams: [],
      ends: [],
    };
    known.push(one);
    byId.set(session.id, one);
    session.own(() => {
      one.released++;
      throw new Error('a release that throws stops no other');
    });
    holdWhileAwake(session);
  };

  const act = ({ do: what, n }: Step): void => {
    const one = known[n % (known.length || 1)];
    const wasEnded = one !== undefined && one.ends.length > 0;
    switch (what) {
      case 'advance':
        clock.advance(n);
        return;
      case 'reserve': {
        const principal = `p${n % 3}`;
        const admission = table.reserve(principal);
        if ('refusal' in admission) {
          assert.equal(admission.refusal.status, 503);
          assert.match(admission.refusal.headers['retry-after'] ?? '', /^([1-9]|[1-5]\d|60)$/);
          return;
        }
        const entry = { place: admission.reservation, principal, released: 0, isConfirmed: false };
        entry.place.own(() => void entry.released++);
        places.push(entry);
        return;
      }
      case 'confirm': {
        const entry = places[n % (places.length || 1)];
        confirming = entry?.principal;
        if (entry !== undefined) entry.isConfirmed = entry.place.confirm() === undefined;
        confirming = undefined;
        return;
      }
      case 'commit':
        commit(n);
        return;
      case 'abort': {
        const [entry] = places.splice(n % (places.length || 1), 1);
        entry?.place.release();
        if (entry !== undefined) assert.equal(entry.released, 1);
        return;
      }
      default:
    }
    if (one === undefined) return;
    const { session } = one;
    const isAwake = !wasEnded && session.state !== 'dormant';
    switch (what) {
      case 'initialized':
        session.initialized();
        break;
      case 'call':
      case 'ping': {
        // The same few ids over and over, as one widespread client does.
        const exchange = session.beginRequest(n % 2, what === 'ping' ? 'ping' : 'tools/call');
        assert.equal(exchange === undefined, wasEnded);
        if (exchange !== undefined) one.calls.add(exchange);
        break;
      }
      case 'finish':
      case 'fail': {
        const [exchange] = one.calls;
        if (exchange === undefined) break;
        one.calls.delete(exchange);
        exchange.end(what === 'finish' ? 200 : 500);
        if (what === 'finish' && exchange.method !== 'ping' && !wasEnded) one.lastWorkAt = clock.now();
        break;
      }
      case 'owe':
        session.owesAnswer(n % 3);
        if (isAwake) one.bounded.set(`answer ${n % 3}`, clock.now() + ANSWER_MS);
        break;
      case 'answer': {
        const until = one.bounded.get(`answer ${n % 3}`);
        one.bounded.delete(`answer ${n % 3}`);
        assert.equal(session.answered(n % 3), !wasEnded && until !== undefined && until > clock.now());
        break;
      }
      case 'task':
        session.beginTask('t', 50_000);
        if (isAwake) one.bounded.set('task', clock.now() + 50_000);
        break;
      case 'task-over':
        session.endTask('t');
        one.bounded.delete('task');
        break;
      case 'get': {
        const stream: Known['streams'][number] = { isOpen: false, pings: [] };
        one.streams.push(stream);
        void session
          .listen({
            ping: (id) => stream.pings.push(id) > 0,
            close: () => {
              stream.isOpen = false;
              delete stream.closed;
            },
          })
          .then((verdict) => {
            // Between the verdict and now the session may have ended or another may have taken over.
            if (!verdict.granted || session.state === 'ended') return;
            stream.isOpen = true;
            stream.closed = verdict.closed;
          });
        break;
      }
      case 'get-ends': {
        const stream = one.streams.find(({ isOpen }) => isOpen);
        if (stream === undefined) break;
        stream.isOpen = false;
        stream.closed?.();
        break;
      }
      case 'pong':
        for (const { pings } of one.streams) for (const id of pings) session.answered(id);
        break;
      case 'delete':
        assert.equal(session.end('deleted'), !wasEnded);
        break;
      case 'stranger':
        assert.equal(table.find(session.id, 'stranger'), undefined);
        assert.equal(one.ends.length > 0, wasEnded, 'a stranger ends nothing');
        break;
      default:
    }
  };

  const check = (): void => {
    // What a hook throws is reported, not thrown; the model's own findings are to be seen.
    for (const error of errors.splice(0)) if (error instanceof assert.AssertionError) throw error;
    const { ended, ...stats } = table.stats();
    const sessions = live();
    assert.equal(table.size, sessions.length);
    assert.equal(stats.fresh + stats.active + stats.idle + stats.dormant, table.size);
    assert.equal(stats.opened - Object.values(ended).reduce((a, b) => a + b, 0), table.size);
    const confirmed = places.filter((entry) => entry.isConfirmed && entry.released === 0);
    assert.ok(table.size + confirmed.length <= maxSessions, 'above the cap');
    assert.equal(stats.principals, new Set(sessions.map(({ principal }) => principal)).size);
    for (const principal of ['p0', 'p1', 'p2']) {
      const mine = [...sessions, ...confirmed].filter((entry) => entry.principal === principal);
      assert.ok(mine.length <= MAX_PER_PRINCIPAL, 'above the cap of a principal');
    }
    for (const one of known) {
      const { session } = one;
      const isEnded = one.ends.length > 0;
      assert.ok(one.ends.length <= 1, 'ended twice');
      assert.equal(session.state === 'ended', isEnded, 'a way out of ended');
      assert.equal(session.endReason, one.ends[0]);
      assert.equal(one.released, isEnded ? 1 : 0);
      assert.equal(one.reserved.released, isEnded ? 1 : 0);
      const isAsleep = isEnded || session.state === 'dormant';
      assert.equal(one.awakeReleased, isAsleep ? one.awakeHeld : one.awakeHeld - 1);
      assert.equal(table.find(session.id, one.principal), isEnded ? undefined : session);
      assert.ok(
        one.streams.filter(({ isOpen }) => isOpen).length <= (isEnded ? 0 : 1),
        'two listening streams',
      );
      if (isEnded) {
        for (const method of ['POST', 'GET', 'DELETE']) {
          const decision = routeInbound(
            { method, principal: one.principal, sessionId: session.id, protocolVersion: undefined },
            { find: table.find, isCallEvent: () => false },
          );
          assert.equal(decision.action === 'refuse' && decision.refusal.status, 404);
        }
      } else {
        assert.equal(session.inFlight, inFlight(one));
        assert.equal(session.lastWorkAt, one.lastWorkAt);
        if (session.state !== 'dormant') assert.ok(session.idleFor < IDLE_MS || inFlight(one) > 0, 'overdue');
        if (session.state === 'fresh')
          assert.ok(clock.now() - session.openedAt < INITIALIZE_MS, 'fresh for too long');
      }
    }
  };

  for (const one of steps) {
    act(one);
    for (let turn = 0; turn < 4; turn++) await Promise.resolve();
    // A dormant session that a refused request woke sleeps again at the next turn of the clock.
    clock.advance(0);
    check();
  }

  if (finish === 'close') await table.close();
  else {
    for (const { place } of places) place.release();
    for (const one of live()) one.session.end('deleted');
  }
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
  check();
  for (const entry of places) assert.equal(entry.released, 1);
  const { fresh, active, idle, dormant, streams, reserved } = table.stats();
  assert.deepEqual([fresh, active, idle, dormant, streams, reserved, table.size], [0, 0, 0, 0, 0, 0, 0]);
  assert.equal(clock.pending, 0, 'a timer is left');
  return known.map((one) => one.ends[0]);
}

test('random orders of events: caps, eviction, endings, releases and timers hold', async () => {
  const seen = new Set<EndReason | undefined>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 150, size: 'max' }),
      fc.record({
        maxSessions: fc.constantFrom(2, 3, 5),
        onIdle: fc.constantFrom('end' as const, 'sleep' as const),
        finish: fc.constantFrom('close' as const, 'delete' as const),
      }),
      async (steps, settings) => {
        for (const reason of await run(steps, settings)) seen.add(reason);
      },
    ),
    { numRuns: 400 },
  );
  // The generator is worth nothing when it does not get there.
  for (const reason of ['evicted', 'idle', 'gone', 'deleted', 'closed'] as const) {
    assert.ok(seen.has(reason), `no session ended with ${reason}`);
  }
});
