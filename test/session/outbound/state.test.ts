import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGeneration } from '../../../src/session/outbound/generation.js';
import { nextOutbound, type OutboundEvent, type OutboundState } from '../../../src/session/outbound/state.js';

const STATES = ['opening', 'live', 'retiring', 'ended'] as const satisfies readonly OutboundState[];
const EVENTS = [
  'opened',
  'open-failed',
  'retire',
  'expired',
  'terminated',
] as const satisfies readonly OutboundEvent[];

test('the whole table: what follows what, and everything else changes nothing', () => {
  const wanted: Record<OutboundState, Partial<Record<OutboundEvent, OutboundState>>> = {
    opening: { opened: 'live', 'open-failed': 'ended', retire: 'retiring' },
    live: { retire: 'retiring', expired: 'ended' },
    retiring: { opened: 'retiring', 'open-failed': 'ended', expired: 'ended', terminated: 'ended' },
    ended: {},
  };
  for (const state of STATES) {
    for (const event of EVENTS) {
      assert.equal(nextOutbound(state, event), wanted[state][event], `${state} + ${event}`);
    }
  }
});

test('no way leads out of ended or back to opening, and ended is reached from everywhere', () => {
  for (const state of STATES) {
    const next = EVENTS.map((event) => nextOutbound(state, event));
    assert.ok(!next.includes('opening'));
    if (state === 'ended') assert.deepEqual(new Set(next), new Set([undefined]));
    const reached = new Set<OutboundState>([state]);
    for (const from of reached) {
      for (const event of EVENTS) reached.add(nextOutbound(from, event) ?? from);
    }
    assert.ok(reached.has('ended'), state);
  }
});

test('a generation applies events in order and says which of them meant nothing', () => {
  const generation = createGeneration(3, { id: 'a' }, 17);
  assert.deepEqual([generation.number, generation.bornAt, generation.state], [3, 17, 'opening']);
  assert.equal(generation.apply('terminated'), false);
  assert.equal(generation.apply('opened'), true);
  assert.equal(generation.apply('opened'), false);
  assert.equal(generation.state, 'live');
  assert.equal(generation.apply('retire'), true);
  assert.equal(generation.apply('terminated'), true);
  for (const event of EVENTS) assert.equal(generation.apply(event), false);
  assert.equal(generation.state, 'ended');
});
