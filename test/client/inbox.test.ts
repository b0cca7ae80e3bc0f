import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerKey, createInbox, type Inbox, type Origin } from '../../src/client/inbox.js';
import type { Message, RequestId } from '../../src/protocol/jsonrpc.js';
import type { ListKind } from '../../src/session/outbound/list-changes.js';
import { createListChanges } from '../../src/session/outbound/list-changes.js';
import { createServerMemory, type ServerMemory } from '../../src/session/outbound/server-memory.js';
import { createWorkClock, type WorkClock } from '../../src/session/work-clock.js';
import { settle } from '../support/fake-context.js';
import { type ManualClock, manualClock } from '../support/manual-clock.js';
import { verifies } from '../requirements.js';

interface Fixture {
  clock: ManualClock;
  inbox: Inbox;
  host: Message[];
  memory: ServerMemory;
  work: WorkClock;
  /** What a neighbour of this session was told. */
  neighbour: ListKind[];
  readonly idle: number;
}

function fixture(): Fixture {
  const clock = manualClock();
  const host: Message[] = [];
  const neighbour: ListKind[] = [];
  const memory = createServerMemory(clock);
  const lists = createListChanges(clock);
  let idle = 0;
  const work = createWorkClock({ clock, idleMs: 1_000, answerMs: 3_600_000, onIdle: () => (idle += 1) });
  const member = { declares: () => true, isListening: () => false, tell: () => assert.fail('told itself') };
  lists.join(member);
  lists.join({ ...member, tell: (kind) => neighbour.push(kind) });
  const inbox = createInbox({
    toHost: (message) => host.push(message),
    work: () => work,
    memory,
    lists,
    member,
    lost: () => new Error('lost on the way'),
  });
  return {
    clock,
    inbox,
    host,
    memory,
    work,
    neighbour,
    get idle() {
      return idle;
    },
  };
}

const message = (rest: object): Message => ({ jsonrpc: '2.0', ...rest }) as Message;
const ask = (id: RequestId, method = 'elicitation/create'): Message => message({ id, method, params: {} });
const reply = (id: RequestId, result: unknown = {}): Message & { id: RequestId } =>
  message({ id, result }) as Message & { id: RequestId };
const from = (generation: number, request?: Message): Origin =>
  ({ generation, ...(request === undefined ? {} : { request }) }) as Origin;

test('R082, R085: two generations ask with one id; each answer goes where its question came from', () => {
  verifies('refused/answers-belong-to-their-generation');
  const { inbox, host } = fixture();
  inbox.take(ask(7), from(1));
  inbox.take(ask(7), from(2));
  inbox.take(ask('7'), from(2));
  const [a, b, c] = host.map(({ id }) => id) as [RequestId, RequestId, RequestId];
  assert.deepEqual([a, typeof b, c], [7, 'number', '7']);
  assert.notEqual(b, a);
  assert.deepEqual(inbox.answer(reply(b, { x: 1 })), {
    generation: 2,
    message: reply(7, { x: 1 }),
    key: answerKey(b),
  });
  assert.equal(inbox.answer(reply(a))?.generation, 1);
  assert.equal(inbox.answer(reply(c))?.message.id, '7');
});

test('a late answer, a second one, and one that nobody asked for are dropped', () => {
  verifies('refused/answers-belong-to-their-generation');
  const { inbox } = fixture();
  inbox.take(ask(1), from(1));
  assert.ok(inbox.answer(reply(1)));
  assert.equal(inbox.answer(reply(1)), undefined);
  assert.equal(inbox.answer(reply('x')), undefined);
  inbox.take(ask(2), from(1));
  inbox.forget(1);
  assert.equal(inbox.answer(reply(2)), undefined);
});

test('a generation that is no more: the host is told of each question that nobody waits for, and of no other', () => {
  verifies('refused/answers-belong-to-their-generation');
  const { inbox, host, work } = fixture();
  inbox.take(ask('a'), from(1));
  inbox.take(ask('a'), from(2));
  inbox.take(ask('b'), from(1));
  assert.equal(work.inFlight('answer'), 3);
  const kept = host[1]?.id as RequestId;
  host.length = 0;
  inbox.forget(1);
  assert.deepEqual(
    host.map(({ method, params }) => [method, params?.requestId]),
    [
      ['notifications/cancelled', 'a'],
      ['notifications/cancelled', 'b'],
    ],
  );
  assert.match(String(host[0]?.params?.reason), /session/);
  assert.equal(work.inFlight('answer'), 1);
  inbox.forget(1);
  assert.equal(host.length, 2);
  assert.equal(inbox.answer(reply(kept))?.generation, 2);
});

test('the server gives its question up: the host hears the id that it knows, once, and the clock runs on', () => {
  const { inbox, host, work } = fixture();
  inbox.take(ask(1), from(1));
  inbox.take(ask(1), from(2));
  const hostId = host[1]?.id;
  const cancelled = message({
    method: 'notifications/cancelled',
    params: { requestId: 1, reason: 'r', _meta: { x: 1 } },
  });
  inbox.take(cancelled, from(2));
  inbox.take(cancelled, from(2));
  assert.equal(host.length, 3);
  assert.deepEqual(host[2]?.params, { requestId: hostId, reason: 'r', _meta: { x: 1 } });
  assert.equal(work.inFlight('answer'), 1);
  inbox.take(message({ method: 'notifications/cancelled', params: { requestId: 99 } }), from(1));
  inbox.take(message({ method: 'notifications/cancelled' }), from(1));
  assert.equal(host.length, 3, 'what it never asked cannot be given up');
});

test('an answer that is owed holds the idle clock, for an hour at most', () => {
  const at = fixture();
  at.inbox.take(ask(1), from(1));
  at.clock.advance(3_600_000);
  assert.equal(at.idle, 0);
  at.clock.advance(1_000);
  assert.equal(at.idle, 1);
});

test('a response is handed on when its request waits for it on that stream, and no other', () => {
  const { inbox, host } = fixture();
  const request = message({ id: 1, method: 'tools/call' });
  inbox.take(reply('1'), from(1, request));
  inbox.take(reply(2), from(1, request));
  inbox.take(reply(1), from(1));
  inbox.take(message({ id: null, error: { code: 1, message: 'x' } }), from(1, request));
  assert.deepEqual(host, []);
  inbox.take(reply(1), from(1, request));
  assert.equal(host.length, 1);
});

test('a response that comes on the listening stream is taken when it was expected there, of that generation, once', async () => {
  const { inbox, host } = fixture();
  let done = 0;
  const waiting = inbox.expect(1, 2).arrived.then(() => (done += 1));
  inbox.take(reply(1), from(1));
  inbox.take(reply('1'), from(2));
  await settle();
  assert.deepEqual([host.length, done], [0, 0]);
  inbox.take(reply(1), from(2));
  await waiting;
  inbox.take(reply(1), from(2));
  assert.deepEqual([host.length, done], [1, 1]);
});

test('who does not expect it any more is told nothing, and costs nothing', async () => {
  const { inbox, host } = fixture();
  const first = inbox.expect(1, 1);
  const second = inbox.expect(1, 2);
  first.drop();
  inbox.take(reply(1), from(2));
  await second.arrived;
  assert.equal(host.length, 1, 'the drop of an older one takes nothing away');
  const third = inbox.expect(2, 2);
  third.drop();
  third.drop();
  inbox.take(reply(2), from(2));
  assert.equal(host.length, 1);
});

test('when the listening stream of a generation is no more, what was to come on it is lost, and said so', async () => {
  verifies('lost/outcome-unknown');
  const { inbox, host } = fixture();
  const [lost, kept] = [inbox.expect(1, 1), inbox.expect(2, 2)];
  inbox.abandon(1);
  await assert.rejects(lost.arrived, /lost on the way/);
  inbox.take(reply(1), from(1));
  assert.equal(host.length, 0);
  inbox.take(reply(2), from(2));
  await kept.arrived;
  inbox.expect(3, 1);
  inbox.abandon(1);
  await settle();
});

test('how many of its questions the server waits for', () => {
  const { inbox } = fixture();
  assert.equal(inbox.unanswered, 0);
  inbox.take(ask(1), from(1));
  inbox.take(ask(2), from(1));
  inbox.take(ask(3), from(2));
  assert.equal(inbox.unanswered, 3);
  inbox.answer(reply(1));
  inbox.forget(2);
  assert.equal(inbox.unanswered, 1);
});

test('tools and what is known about them are learnt from a tools/list, and from nothing else', () => {
  const { inbox, memory } = fixture();
  const tools = { tools: [{ name: 'read', annotations: { readOnlyHint: true } }] };
  inbox.take(reply(1, tools), from(1, message({ id: 1, method: 'tools/call' })));
  assert.equal(memory.isRepeatable('read'), false);
  inbox.take(reply(1, tools), from(1, message({ id: 1, method: 'tools/list' })));
  assert.equal(memory.isRepeatable('read'), true);
});

test('a ping on the listening stream marks the server, one on the stream of a call does not', () => {
  const { inbox, memory, host } = fixture();
  inbox.take(ask(1, 'ping'), from(1, message({ id: 1, method: 'tools/call' })));
  assert.equal(memory.pingsOnStream, false);
  inbox.take(ask(2, 'elicitation/create'), from(1));
  assert.equal(memory.pingsOnStream, false);
  inbox.take(ask(3, 'ping'), from(1));
  assert.equal(memory.pingsOnStream, true);
  assert.equal(host.length, 3, 'the host answers it');
});

test('a list_changed is for the host and for its neighbours', () => {
  const { inbox, host, neighbour } = fixture();
  inbox.take(message({ method: 'notifications/tools/list_changed' }), from(1));
  inbox.take(message({ method: 'notifications/message' }), from(1));
  assert.deepEqual([host.length, neighbour], [2, ['tools']]);
});

test('a task holds the idle clock until it is terminal, whichever message says so', () => {
  const call = message({ id: 1, method: 'tools/call' });
  const get = message({ id: 1, method: 'tasks/get' });
  const created = reply(1, { task: { taskId: 't', status: 'working', ttl: 60_000 } });
  const ends: Array<(inbox: Inbox) => void> = [
    (inbox) => inbox.take(reply(1, { taskId: 't', status: 'completed' }), from(1, get)),
    (inbox) =>
      inbox.take(
        reply(1, { taskId: 't', status: 'cancelled' }),
        from(1, message({ id: 1, method: 'tasks/cancel' })),
      ),
    (inbox) =>
      inbox.take(
        message({ method: 'notifications/tasks/status', params: { taskId: 't', status: 'failed' } }),
        from(1),
      ),
    (inbox) =>
      inbox.take(
        reply(1, { content: [] }),
        from(1, message({ id: 1, method: 'tasks/result', params: { taskId: 't' } })),
      ),
  ];
  for (const [n, end] of ends.entries()) {
    const at = fixture();
    at.inbox.take(created, from(1, call));
    assert.equal(at.work.inFlight('task'), 1);
    at.inbox.take(reply(1, { taskId: 't', status: 'input_required', ttl: 60_000 }), from(1, get));
    at.clock.advance(59_000);
    assert.deepEqual([at.work.inFlight('task'), at.idle], [1, 0]);
    end(at.inbox);
    assert.equal(at.work.inFlight('task'), 0, String(n));
    at.clock.advance(1_000);
    assert.equal(at.idle, 1);
  }
});

test('a task that nobody ends holds it for its ttl, or for an hour', () => {
  const call = message({ id: 1, method: 'tools/call' });
  for (const [ttl, ms] of [
    [60_000, 60_000],
    [null, 3_600_000],
    [undefined, 3_600_000],
    [7_200_000, 3_600_000],
  ] as const) {
    const at = fixture();
    at.inbox.take(reply(1, { task: { taskId: 't', status: 'working', ttl } }), from(1, call));
    at.clock.advance(ms - 1);
    assert.equal(at.work.inFlight('task'), 1, String(ttl));
    at.clock.advance(1);
    assert.equal(at.work.inFlight('task'), 0, String(ttl));
  }
});

test('what is no task holds nothing', () => {
  const at = fixture();
  for (const task of [null, 'x', {}, { taskId: 't' }, { taskId: 7, status: 'working' }]) {
    at.inbox.take(reply(1, { task }), from(1, message({ id: 1, method: 'tools/call' })));
  }
  at.inbox.take(
    reply(1, { taskId: 't', status: 'working' }),
    from(1, message({ id: 1, method: 'tools/call' })),
  );
  at.inbox.take(
    message({ id: 1, error: { code: 1, message: 'x' } }),
    from(1, message({ id: 1, method: 'tasks/get' })),
  );
  assert.equal(at.work.inFlight(), 0);
  assert.equal(at.host.length, 7);
});

test('what is no message at all goes nowhere', () => {
  const { inbox, host } = fixture();
  inbox.take(message({ id: 1 }), from(1));
  inbox.take(message({ id: null, method: 'x' }), from(1));
  assert.deepEqual(host, []);
});
