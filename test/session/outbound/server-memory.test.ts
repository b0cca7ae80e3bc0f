import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createServerMemory, LISTEN_RETRY_MS } from '../../../src/session/outbound/server-memory.js';
import { manualClock } from '../../support/manual-clock.js';

test('a server without a stream is asked again after ten minutes, not before', () => {
  const clock = manualClock();
  const memory = createServerMemory(clock);
  assert.equal(memory.mayListen(), true);
  memory.stopListening();
  clock.advance(LISTEN_RETRY_MS - 1);
  assert.equal(memory.mayListen(), false);
  clock.advance(1);
  assert.equal(memory.mayListen(), true);
  assert.equal(LISTEN_RETRY_MS, 600_000);
});

test('R041: only a tool that its own server calls read-only or idempotent may be repeated', () => {
  const memory = createServerMemory(manualClock());
  memory.learnTools({
    tools: [
      { name: 'read', annotations: { readOnlyHint: true } },
      { name: 'put', annotations: { idempotentHint: true, readOnlyHint: false } },
      { name: 'pay', annotations: { readOnlyHint: false, destructiveHint: false } },
      { name: 'plain' },
      { name: 'loose', annotations: { readOnlyHint: 'true', idempotentHint: 1 } },
    ],
  });
  const repeatable = ['read', 'put', 'pay', 'plain', 'loose', 'unknown', undefined, 7].map(
    memory.isRepeatable,
  );
  assert.deepEqual(repeatable, [true, true, false, false, false, false, false, false]);
});

test('a later list that takes the hint back is believed, a malformed one changes nothing', () => {
  const memory = createServerMemory(manualClock());
  memory.learnTools({ tools: [{ name: 'read', annotations: { readOnlyHint: true } }] });
  for (const junk of [undefined, null, 'x', {}, { tools: {} }, { tools: [null, 1, {}, { name: 7 }] }]) {
    memory.learnTools(junk);
  }
  memory.learnTools({ tools: [{ name: 'other', annotations: null }] });
  assert.deepEqual([memory.isRepeatable('read'), memory.isRepeatable('other')], [true, false]);
  memory.learnTools({ tools: [{ name: 'read' }] });
  assert.equal(memory.isRepeatable('read'), false);
});
