import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createListChanges,
  type ListKind,
  listKindOf,
  type Member,
} from '../../../src/session/outbound/list-changes.js';
import { manualClock } from '../../support/manual-clock.js';

interface Told extends Member {
  readonly told: ListKind[];
  listens: boolean;
}

function member(...declared: ListKind[]): Told {
  const told: ListKind[] = [];
  const self: Told = {
    told,
    listens: false,
    declares: (kind) => declared.includes(kind),
    isListening: () => self.listens,
    tell: (kind) => told.push(kind),
  };
  return self;
}

const TEN_MINUTES = 600_000;

test('the kind of a list_changed notification', () => {
  assert.equal(listKindOf('notifications/tools/list_changed'), 'tools');
  assert.equal(listKindOf('notifications/resources/list_changed'), 'resources');
  assert.equal(listKindOf('notifications/prompts/list_changed'), 'prompts');
  for (const method of [
    'notifications/roots/list_changed',
    'notifications/resources/updated',
    'tools/list',
  ]) {
    assert.equal(listKindOf(method), undefined);
  }
});

test('after a gap the next work brings one list_changed of each kind that was declared, to everybody', () => {
  const lists = createListChanges(manualClock());
  const [a, b] = [member('tools', 'prompts'), member('tools')];
  lists.join(a);
  lists.join(b);
  lists.workBegins('tools/call', a);
  assert.deepEqual([a.told, b.told], [[], []], 'there was no gap yet');
  lists.listening()();
  lists.workBegins('tools/call', a);
  lists.workBegins('tools/call', a);
  assert.deepEqual([a.told, b.told], [['tools', 'prompts'], ['tools']]);
});

test('no gap while anybody listens for that server and principal', () => {
  const lists = createListChanges(manualClock());
  const a = member('tools');
  lists.join(a);
  const first = lists.listening();
  const second = lists.listening();
  first();
  first();
  lists.unheard();
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, []);
  second();
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['tools']);
});

test('a session that works without a stream makes a gap too', () => {
  const lists = createListChanges(manualClock());
  const a = member('resources');
  lists.join(a);
  lists.unheard();
  lists.workBegins('resources/read', a);
  assert.deepEqual(a.told, ['resources']);
});

test('at most one of a kind in ten minutes; a gap within them is told after them', () => {
  const clock = manualClock();
  const lists = createListChanges(clock);
  const a = member('tools');
  lists.join(a);
  lists.unheard();
  lists.workBegins('tools/call', a);
  clock.advance(1);
  lists.unheard();
  clock.advance(TEN_MINUTES - 2);
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['tools']);
  clock.advance(1);
  lists.workBegins('tools/call', a);
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['tools', 'tools']);
});

test('what was told to nobody does not count as told', () => {
  const lists = createListChanges(manualClock());
  const deaf = member('prompts');
  lists.join(deaf);
  lists.unheard();
  lists.workBegins('tools/call', deaf);
  const a = member('tools');
  lists.join(a);
  lists.unheard();
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['tools']);
});

test('the re-list that a list_changed causes brings no other; a list asked for anyway needs none of its kind', () => {
  const lists = createListChanges(manualClock());
  const a = member('tools', 'prompts');
  lists.join(a);
  lists.unheard();
  lists.workBegins('tools/list', a);
  assert.deepEqual(a.told, [], 'a list brings itself up to date, and the others wait for other work');
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['prompts']);
  lists.workBegins('prompts/list', a);
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['prompts']);
});

test('a list of templates does not bring the list of resources up to date', () => {
  const lists = createListChanges(manualClock());
  const a = member('resources');
  lists.join(a);
  lists.unheard();
  lists.workBegins('resources/templates/list', a);
  lists.workBegins('tools/call', a);
  assert.deepEqual(a.told, ['resources']);
});

test('a real one is given to all who declared its kind and do not hear it themselves', () => {
  const lists = createListChanges(manualClock());
  const [by, quiet, listening, other] = [
    member('tools'),
    member('tools'),
    member('tools'),
    member('prompts'),
  ] as [Told, Told, Told, Told];
  listening.listens = true;
  for (const one of [by, quiet, listening, other]) lists.join(one);
  lists.heard('tools', by);
  assert.deepEqual([by.told, quiet.told, listening.told, other.told], [[], ['tools'], [], []]);
});

test('who has left is told nothing', () => {
  const lists = createListChanges(manualClock());
  const a = member('tools');
  const leave = lists.join(a);
  leave();
  leave();
  lists.unheard();
  lists.workBegins('tools/call', a);
  lists.heard('tools', member('tools'));
  assert.deepEqual(a.told, []);
});

test("one session's list brings nothing up to date for its neighbours", () => {
  const lists = createListChanges(manualClock());
  const [a, b] = [member('tools'), member('tools')];
  lists.join(a);
  lists.join(b);
  lists.unheard();
  lists.workBegins('tools/list', a);
  lists.workBegins('tools/call', a);
  assert.deepEqual([a.told, b.told], [[], ['tools']]);
});
