import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  headerFault,
  isSessionId,
  MAX_SESSION_ID_LENGTH,
  mediaType,
  singleValue,
  toHeaderMap,
} from '../../src/protocol/headers.js';
import { verifies } from '../requirements.js';

test('a session id is visible ASCII, 1 to 8192 characters', () => {
  for (const id of ['a', '!', '~', 'x'.repeat(MAX_SESSION_ID_LENGTH), '{"a":1}'])
    assert.ok(isSessionId(id), id);
  const wrong = [
    '',
    ' ',
    'a b',
    'a\n',
    '\x7f',
    'ä',
    'x'.repeat(MAX_SESSION_ID_LENGTH + 1),
    1,
    null,
    undefined,
  ];
  for (const id of wrong) assert.equal(isSessionId(id), false, String(id).slice(0, 20));
});

test('R091: a header sent twice counts once when its values are the same, not at all when they differ', () => {
  assert.equal(singleValue('a'), 'a');
  assert.equal(singleValue(' a , a'), 'a');
  assert.equal(singleValue(['a', 'a']), 'a');
  for (const value of ['a, b', ['a', 'b'], '', ' ', 'a,', [], null, undefined]) {
    assert.equal(singleValue(value), undefined, JSON.stringify(value));
  }
});

test('a media type is read without parameters, space and case', () => {
  verifies('hops/header-spelling');
  assert.equal(mediaType('Text/Event-Stream; charset=utf-8'), 'text/event-stream');
  assert.equal(mediaType(' application/json '), 'application/json');
  assert.equal(mediaType('application/json;x=1;y=2'), 'application/json');
  for (const none of ['', undefined, null, ';charset=utf-8']) assert.equal(mediaType(none), '');
});

test('R092: headers of any shape become one map with lower-case names; the later one wins', () => {
  verifies('hops/header-spelling');
  const wanted = [['x-a', '2']];
  assert.deepEqual([...toHeaderMap({ 'X-A': '1', 'x-a': '2' })], wanted);
  assert.deepEqual(
    [
      ...toHeaderMap([
        ['X-A', '1'],
        ['x-A', '2'],
      ]),
    ],
    wanted,
  );
  assert.deepEqual([...toHeaderMap(new Map([['X-A', '2']]))], wanted);
  assert.deepEqual([...toHeaderMap(new Headers({ 'X-A': '2' }))], wanted);
  assert.equal(toHeaderMap(undefined).size, 0);
  assert.equal(toHeaderMap(null as unknown as undefined).size, 0);
  const gaps = { a: undefined, b: null, c: 3 } as unknown as Record<string, string>;
  assert.deepEqual([...toHeaderMap(gaps)], [['c', '3']]);
});

test('a header that HTTP cannot carry is named, its value is not', () => {
  for (const [name, value] of [
    ['x-a', ''],
    ['x_a!#$%&', 'tab\tand é'],
    ['x-a', '~'],
  ] as const) {
    assert.equal(headerFault(name, value), undefined);
  }
  for (const [name, value] of [
    ['x a', 'secret'],
    ['', 'secret'],
    ['x:', 'secret'],
    ['x-a', 'secret\n'],
    ['x-a', 'secret\r\nx-b: 1'],
    ['x-a', 'secret\0'],
    ['x-a', 'secret €'],
    ['x-a', 'secret\x7f'],
  ] as const) {
    const fault = headerFault(name, value) ?? '';
    assert.match(fault, /HTTP does not allow/, JSON.stringify([name, value]));
    assert.doesNotMatch(fault, /secret/);
  }
});
