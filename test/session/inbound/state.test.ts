import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InboundEvent, type InboundState, nextInbound } from '../../../src/session/inbound/state.js';

const STATES: InboundState[] = ['fresh', 'active', 'idle', 'dormant', 'ended'];
const EVENTS: InboundEvent[] = ['initialized', 'request', 'held', 'quiet', 'slept', 'ended'];

test('the whole table of transitions, as docs/lifecycle.md draws it', () => {
  const seen: Record<string, string> = {};
  for (const state of STATES) {
    for (const event of EVENTS) {
      const next = nextInbound(state, event);
      if (next !== undefined) seen[`${state} ${event}`] = next;
    }
  }
  assert.deepEqual(seen, {
    'fresh initialized': 'idle',
    'fresh request': 'active',
    'fresh ended': 'ended',
    'active quiet': 'idle',
    'active ended': 'ended',
    'idle request': 'active',
    'idle held': 'active',
    'idle slept': 'dormant',
    'idle ended': 'ended',
    'dormant request': 'active',
    'dormant ended': 'ended',
  });
});

test('nothing leads out of ended, and nothing back to fresh', () => {
  for (const event of EVENTS) assert.equal(nextInbound('ended', event), undefined);
  for (const state of STATES) for (const event of EVENTS) assert.notEqual(nextInbound(state, event), 'fresh');
});
