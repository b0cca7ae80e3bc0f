/** The text of a ledger file, whole, cut and spoilt. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  headLine,
  openedLine,
  readLines,
  settledLine,
} from '../../../../src/session/outbound/ledger/lines.js';

const entry = (id: string): Parameters<typeof openedLine>[0] => ({
  url: 'http://a/mcp',
  id,
  principal: 'p',
  at: 1,
});
const head = headLine({ host: 'h', boot: 'b', namespace: 'n', pid: 1, start: '2' });
const text = `${head}${openedLine(entry('one'))}${openedLine(entry('two'))}${settledLine('http://a/mcp', 'one')}`;

it('gives what was opened and not settled', () => {
  assert.deepEqual(readLines(text), { entries: [entry('two')], garbage: 0 });
  assert.deepEqual(readLines(''), { entries: [], garbage: 0 });
});

it('may be cut anywhere: what was whole counts, and a cut last line is no garbage', () => {
  for (let at = 0; at <= text.length; at += 1) {
    const { entries, garbage } = readLines(text.slice(0, at));
    assert.equal(garbage, 0);
    for (const { id } of entries) assert.ok(id === 'one' || id === 'two');
  }
});

it('counts lines that mean nothing, and takes no entry that could not be sent', () => {
  const bad = [
    'x',
    '[]',
    'null',
    '{"opened":null}',
    '{"opened":{"url":"file:///x","id":"a","principal":"p","at":1}}',
    '{"opened":{"url":"http://a","id":"a b\\n","principal":"p","at":1}}',
    '{"opened":{"url":"http://a","id":"a","principal":"p","at":"1"}}',
  ];
  assert.deepEqual(readLines(`${bad.join('\n')}\n`), { entries: [], garbage: bad.length });
});
