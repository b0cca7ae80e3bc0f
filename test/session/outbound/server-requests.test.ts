import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { idKey } from '../../../src/protocol/ids.js';
import { createServerRequests } from '../../../src/session/outbound/server-requests.js';

test('R082, R085: an id of an older generation that still waits is not given away again, type kept', () => {
  const requests = createServerRequests();
  assert.equal(requests.deliver(1, 7), 7);
  const second = requests.deliver(2, 7);
  assert.equal(typeof second, 'number');
  assert.notEqual(second, 7);
  assert.equal(requests.deliver(2, '7'), '7');
  assert.deepEqual(requests.answer(second), { generation: 2, id: 7 });
  assert.deepEqual(requests.answer(7), { generation: 1, id: 7 });
  assert.deepEqual(requests.answer('7'), { generation: 2, id: '7' });
  assert.equal(requests.size, 0);
});

test('an answer belongs somewhere once', () => {
  const requests = createServerRequests();
  requests.deliver(1, 'a');
  assert.ok(requests.answer('a'));
  assert.equal(requests.answer('a'), undefined);
  assert.equal(requests.answer('never asked'), undefined);
});

test('a request that the server gave up needs no answer, and its id is not used again before the host has answered', () => {
  const requests = createServerRequests();
  const first = requests.deliver(1, 1);
  assert.equal(requests.cancel(2, 1), undefined, 'of another generation');
  assert.equal(requests.cancel(1, '1'), undefined, 'of another type');
  assert.equal(requests.cancel(1, 1), first);
  assert.equal(requests.cancel(1, 1), undefined, 'once');
  assert.equal(requests.size, 0);
  assert.notEqual(requests.deliver(1, 1), first);
  assert.equal(requests.answer(first), undefined, 'late');
  assert.equal(requests.deliver(1, 1), first, 'free again');
});

test('a generation that is dropped names what the host waits with, and no other', () => {
  const requests = createServerRequests();
  requests.deliver(1, 'a');
  requests.deliver(2, 'b');
  const c = requests.deliver(1, 'b');
  assert.deepEqual(requests.drop(1), ['a', c]);
  assert.deepEqual(requests.drop(1), []);
  assert.equal(requests.size, 1);
  assert.equal(requests.answer('a'), undefined);
  assert.equal(requests.answer(c), undefined);
  assert.deepEqual(requests.answer('b'), { generation: 2, id: 'b' });
});

test('hosts that never answer what was given up cost a bounded memory', () => {
  const requests = createServerRequests();
  for (let n = 0; n < 3_000; n += 1) {
    requests.deliver(1, n);
    requests.cancel(1, n);
  }
  const oldest = requests.deliver(1, 0);
  assert.equal(oldest, 0, 'forgotten by now');
  assert.notEqual(requests.deliver(1, 2_999), 2_999, 'still remembered');
  assert.equal(requests.size, 2);
});

test('in any order no answer reaches another generation or another request, and no id is in use twice', () => {
  const id = fc.oneof(fc.nat(3), fc.constantFrom('0', '1', '2'));
  const step = fc.record({
    do: fc.constantFrom('deliver', 'answer', 'cancel', 'drop'),
    generation: fc.integer({ min: 1, max: 3 }),
    id,
    n: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const requests = createServerRequests();
      const open = new Map<string, { hostId: string | number; generation: number; id: string | number }>();
      for (const { do: what, generation, id: serverId, n } of steps) {
        const chosen = [...open.values()][n % Math.max(1, open.size)];
        if (what === 'deliver') {
          const hostId = requests.deliver(generation, serverId);
          assert.equal(typeof hostId, typeof serverId);
          assert.ok(!open.has(idKey(hostId)));
          open.set(idKey(hostId), { hostId, generation, id: serverId });
        } else if (what === 'answer' && chosen !== undefined) {
          assert.deepEqual(requests.answer(chosen.hostId), { generation: chosen.generation, id: chosen.id });
          open.delete(idKey(chosen.hostId));
        } else if (what === 'cancel') {
          const hostId = requests.cancel(generation, serverId);
          const isOpen = [...open.values()].some(
            (entry) => entry.generation === generation && idKey(entry.id) === idKey(serverId),
          );
          assert.equal(hostId !== undefined, isOpen);
          if (hostId !== undefined) {
            const entry = open.get(idKey(hostId));
            assert.deepEqual([entry?.generation, entry?.id], [generation, serverId]);
            open.delete(idKey(hostId));
          }
        } else if (what === 'drop') {
          for (const hostId of requests.drop(generation)) {
            assert.equal(open.get(idKey(hostId))?.generation, generation);
            open.delete(idKey(hostId));
          }
          assert.ok([...open.values()].every((entry) => entry.generation !== generation));
        }
        assert.equal(requests.size, open.size);
      }
    }),
    { numRuns: 200 },
  );
});
