import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  createSseReader,
  formatEvent,
  SSE_HEADERS,
  SSE_KEEPALIVE,
  SSE_KEEPALIVE_MS,
  SseTooLargeError,
} from '../../src/protocol/sse.js';
import { verifies } from '../requirements.js';

/** What a reader made of it: one entry for each callback, in order. */
type Heard = ['event', string, string] | ['id', string] | ['retry', number];

interface Listening {
  heard: Heard[];
  push(text: string | Uint8Array): void;
}

function listen(maxEventChars?: number): Listening {
  const heard: Heard[] = [];
  const reader = createSseReader(
    {
      onEvent: ({ event, data }) => heard.push(['event', event, data]),
      onId: (id) => heard.push(['id', id]),
      onRetry: (ms) => heard.push(['retry', ms]),
    },
    maxEventChars,
  );
  return {
    heard,
    push: (text) => reader.push(typeof text === 'string' ? Buffer.from(text) : text),
  };
}

const heardIn = (...chunks: Array<string | Uint8Array>): Heard[] => {
  const reader = listen();
  for (const chunk of chunks) reader.push(chunk);
  return reader.heard;
};

test('R097: LF, CRLF and CR end a line, also when the cut falls between CR and LF', () => {
  verifies('sse/as-the-standard-says');
  const wanted: Heard[] = [['event', 'message', '{"a":1}']];
  for (const end of ['\n', '\r\n', '\r']) {
    const text = `event: message${end}data: {"a":1}${end}${end}`;
    assert.deepEqual(heardIn(text), wanted, JSON.stringify(end));
    assert.deepEqual(heardIn(...Array.from(text)), wanted, `${JSON.stringify(end)}, character by character`);
  }
  assert.deepEqual(heardIn('data: a\r', '\ndata: b\r\n\r', '\n'), [['event', 'message', 'a\nb']]);
  assert.deepEqual(
    heardIn('data: a\r', '\n', '\n'),
    [['event', 'message', 'a']],
    'only the first LF is a half',
  );
});

test('an event is handed on with its last CR: nothing is waited for', () => {
  assert.deepEqual(heardIn('data: a\r\r'), [['event', 'message', 'a']]);
});

test('R098: data lines are joined, and an event without a name is a message', () => {
  verifies('sse/as-the-standard-says');
  assert.deepEqual(heardIn('data: {"id":2,\ndata: "result":{}}\n\n'), [
    ['event', 'message', '{"id":2,\n"result":{}}'],
  ]);
  assert.deepEqual(heardIn('event: ping\ndata:  x\ndata\n\ndata:y\n\n'), [
    ['event', 'ping', ' x\n'],
    ['event', 'message', 'y'],
  ]);
});

test('split UTF-8 is put together, a byte order mark and what is no UTF-8 harm nothing', () => {
  verifies('sse/as-the-standard-says');
  const bytes = Buffer.from('\ufeffdata: 日本 😀\n\n');
  assert.deepEqual(heardIn(...Array.from(bytes, (byte) => Uint8Array.of(byte))), [
    ['event', 'message', '日本 😀'],
  ]);
  assert.deepEqual(heardIn(Uint8Array.of(...Buffer.from('data: '), 0xff, ...Buffer.from('\n\n'))), [
    ['event', 'message', '\ufffd'],
  ]);
});

test('comments and empty data are no messages; the priming event carries an id all the same', () => {
  verifies('sse/as-the-standard-says');
  const reader = listen();
  reader.push(': keepalive\n\nid: 7\ndata: \n\n:x\ndata: a\n\n');
  assert.deepEqual(reader.heard, [
    ['id', '7'],
    ['event', 'message', 'a'],
  ]);
});

test('the id of an event without any data line counts too (HTML standard, 9.2.6)', () => {
  assert.deepEqual(heardIn('id: 7\n\n'), [['id', '7']]);
});

test('an id is told before its event, and not before the events that precede it', () => {
  assert.deepEqual(heardIn('id: 1\ndata: a\n\nid: 2\ndata: b\n\n'), [
    ['id', '1'],
    ['event', 'message', 'a'],
    ['id', '2'],
    ['event', 'message', 'b'],
  ]);
});

test('an id with a NUL, an empty one, and what only begins like one, are none', () => {
  assert.deepEqual(heardIn('idx: 5\ni: 6\n: id: 7\ndata: id: 8\n\n'), [['event', 'message', 'id: 8']]);
  assert.deepEqual(heardIn('data: a\nid: 1\n\ndata: b\nid: x\0y\n\ndata: c\nid\n\n'), [
    ['id', '1'],
    ['event', 'message', 'a'],
    ['event', 'message', 'b'],
    ['event', 'message', 'c'],
  ]);
});

test('retry is a number of milliseconds, or nothing', () => {
  assert.deepEqual(heardIn('retry: 3000\n\nretry: soon\nretry: -1\nretry: 1.5\n\n'), [['retry', 3000]]);
});

test('an event that does not end is not handed on', () => {
  assert.deepEqual(heardIn('data: a\n\ndata: b\n'), [['event', 'message', 'a']]);
});

test('an over-long event throws, whether it is one line or many, however it is cut', () => {
  const tooLong = (...chunks: string[]): void => {
    const reader = listen(100);
    assert.throws(() => chunks.forEach(reader.push), SseTooLargeError, chunks[0]?.slice(0, 20));
    assert.deepEqual(reader.heard, []);
  };
  tooLong(`data: ${'x'.repeat(100)}`);
  tooLong(...Array.from({ length: 20 }, () => 'data: x\n'));
  tooLong(...Array.from({ length: 101 }, () => 'x'));
  assert.throws(() => listen(10).push('data: 12345'), /longer than 10 characters/);
  const fits = listen(10);
  fits.push('data: 1234');
  fits.push('');
});

test('any number of events and comments that are each short enough pass', () => {
  const [events, both] = [listen(30), listen(30)];
  for (let n = 0; n < 100; n += 1) {
    events.push('data: 12345\n\n');
    both.push(': keepalive\n\n');
    both.push('data: 12345\n\n');
  }
  assert.deepEqual([events.heard.length, both.heard.length], [100, 100]);
  const comments = listen(30);
  for (let n = 0; n < 100; n += 1) comments.push(': keepalive\n\n');
});

test('comments between its lines make an over-long event no shorter', () => {
  const reader = listen(100);
  assert.throws(() => {
    for (let n = 0; n < 100; n += 1) reader.push('data: 12345\n:\n');
  }, SseTooLargeError);
});

/** The same events, ids and delays, each kind in its order. */
function same(heard: readonly Heard[], wanted: readonly Heard[]): void {
  for (const kind of ['event', 'id', 'retry']) {
    assert.deepEqual(
      heard.filter((one) => one[0] === kind),
      wanted.filter((one) => one[0] === kind),
    );
  }
}

interface Block {
  lines: string[];
  heard: Heard[];
}

const text = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: 'binary', maxLength }).map((value) => value.replace(/[\r\n]/g, '?'));

const comment = text(12).map((value) => `:${value}`);

/** One event with its fields in any order. */
const block: fc.Arbitrary<Block> = fc
  .record({
    data: fc.array(text(20), { minLength: 1, maxLength: 4 }),
    name: fc.option(fc.constantFrom('message', 'ping', 'x y', 'ereignis ä'), { nil: undefined }),
    id: fc.option(
      text(8).map((id) => id.replaceAll('\0', '?')),
      { nil: undefined },
    ),
    retry: fc.option(fc.nat(100_000), { nil: undefined }),
    comments: fc.array(comment, { maxLength: 2 }),
    spaced: fc.boolean(),
    order: fc.nat(),
  })
  .map(({ data, name, id, retry, comments, spaced, order }) => {
    const field = (key: string, value: string): string =>
      spaced || value.startsWith(' ') ? `${key}: ${value}` : `${key}:${value}`;
    const rest = [
      ...(name === undefined ? [] : [field('event', name)]),
      ...(id === undefined ? [] : [field('id', id)]),
      ...(retry === undefined ? [] : [field('retry', String(retry))]),
      ...comments,
    ];
    const lines = data.map((line) => field('data', line));
    rest.forEach((line, n) => lines.splice((order + n * 7) % (lines.length + 1), 0, line));
    const joined = data.join('\n');
    const heard: Heard[] = [];
    if (retry !== undefined) heard.push(['retry', retry]);
    if (id !== undefined && id !== '') heard.push(['id', id]);
    if (joined !== '') heard.push(['event', name ?? 'message', joined]);
    return { lines, heard };
  });

const commentBlock: fc.Arbitrary<Block> = comment.map((line) => ({ lines: [line], heard: [] }));

/** Lines with ends out of `ends`, in turn; CR and a following LF would be one end, so that pair becomes CRLF. */
function write(blocks: readonly Block[], ends: readonly string[]): Buffer {
  let out = '';
  let n = 0;
  for (const line of blocks.flatMap(({ lines }) => [...lines, ''])) {
    const end = ends[n++ % ends.length] as string;
    out += line + (line === '' && end === '\n' && out.endsWith('\r') ? '\r\n' : end);
  }
  return Buffer.from(out);
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, n) => bytes.subarray(places[n], end));
}

const lineEnds = fc.oneof(
  fc.constantFrom(['\n'], ['\r\n'], ['\r']),
  fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 7 }),
);
const cuts = fc.array(fc.nat(), { maxLength: 30 });

test('any events, with any line ends, cut anywhere, read the same', () => {
  verifies('property/sse');
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 5, arbitrary: block }, commentBlock), { maxLength: 6 }),
      lineEnds,
      cuts,
      (blocks, ends, places) => {
        const heard = heardIn(...cut(write(blocks, ends), places));
        same(
          heard,
          blocks.flatMap((one) => one.heard),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('what we write is read back the same', () => {
  verifies('property/sse');
  const line = text(20);
  const name = fc.constantFrom('message', 'ping', 'ereignis ä');
  fc.assert(
    fc.property(
      fc.array(
        fc.record(
          {
            data: fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n')),
            event: name,
            id: line.map((id) => `i${id.replaceAll('\0', '')}`),
            retryMs: fc.nat(),
          },
          { requiredKeys: ['data'] },
        ),
        { maxLength: 5 },
      ),
      cuts,
      (events, places) => {
        const written = events.map(formatEvent).join(SSE_KEEPALIVE);
        const wanted = events.flatMap(({ data, event = 'message', id, retryMs }): Heard[] => [
          ...(retryMs === undefined ? [] : [['retry', retryMs] satisfies Heard]),
          ...(id === undefined ? [] : [['id', id] satisfies Heard]),
          ...(data === '' ? [] : [['event', event, data] satisfies Heard]),
        ]);
        same(heardIn(...cut(Buffer.from(written), places)), wanted);
      },
    ),
    { numRuns: 300 },
  );
});

test('R098: line ends inside the data become lines of their own, and never an event of their own', () => {
  assert.equal(formatEvent({ data: 'a\r\nb\rc\n\nd' }), 'data: a\ndata: b\ndata: c\ndata: \ndata: d\n\n');
  assert.equal(
    formatEvent({ data: '', id: '1', event: 'x', retryMs: 0 }),
    'event: x\nid: 1\nretry: 0\ndata: \n\n',
  );
});

test('R103: our streams forbid what would hold them up, and are never quiet for longer than 15 s', () => {
  assert.deepEqual(SSE_HEADERS, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  assert.equal(SSE_KEEPALIVE_MS, 15_000);
  assert.deepEqual(heardIn(SSE_KEEPALIVE, SSE_KEEPALIVE), []);
});
