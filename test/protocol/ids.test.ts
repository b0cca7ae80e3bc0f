import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelledId, freeId, idKey, progressToken } from '../../src/protocol/ids.js';

test('R083, R085: 1 and "1" are two ids', () => {
  const ids = [1, '1', 'n1', 's1', 0, '', -1, '-1', 1.5];
  assert.equal(new Set(ids.map(idKey)).size, ids.length);
});

test('a progress token is a string or a number, 0 and "" among them', () => {
  for (const token of ['t', '', 0, 7])
    assert.equal(progressToken({ _meta: { progressToken: token } }), token);
  for (const params of [undefined, {}, { _meta: null }, { _meta: 'x' }, { _meta: { progressToken: {} } }]) {
    assert.equal(progressToken(params), undefined);
  }
});

test('a cancelled notification names a request, or none', () => {
  assert.equal(cancelledId({ requestId: 0 }), 0);
  assert.equal(cancelledId({ requestId: 'a' }), 'a');
  for (const params of [undefined, {}, { requestId: null }, { requestId: [1] }]) {
    assert.equal(cancelledId(params), undefined);
  }
});

test('a free id is the wanted one, else another of the same JSON type that is free too', () => {
  let count = 0;
  const next = (): number => ++count;
  const taken = new Set<string>();
  const take = (wanted: string | number): string | number => {
    const id = freeId(wanted, (key) => taken.has(key), next);
    assert.ok(!taken.has(idKey(id)));
    taken.add(idKey(id));
    return id;
  };
  assert.equal(take(1), 1);
  assert.equal(take('1'), '1', 'the other type is free');
  const number = take(1);
  const string = take('1');
  assert.deepEqual([typeof number, typeof string], ['number', 'string']);
  taken.add(idKey(1_000_000_000 + count + 1));
  assert.equal(take(1), 1_000_000_000 + count, 'skips what is taken');
  assert.equal(count, 4);
});
