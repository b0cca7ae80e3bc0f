import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswerEnd, readAnswer } from '../../src/client/answer.js';
import { WireError, type WireResponse } from '../../src/client/wire.js';
import type { Message, RequestId } from '../../src/protocol/jsonrpc.js';
import { settle } from '../support/fake-context.js';
import { manualClock } from '../support/manual-clock.js';
import { verifies } from '../requirements.js';

type Chunk = string | Uint8Array | Error | Promise<void>;

interface Read {
  end: Promise<AnswerEnd>;
  messages: Message[];
  ids: string[];
  retries: number[];
  garbage: string[];
  readonly discarded: number;
  clock: ReturnType<typeof manualClock>;
}

/** Reads a body of these chunks as the answer to request `wanted`; an error breaks it off, a promise is waited for. */
function read(type: string | undefined, chunks: Chunk[], wanted: RequestId = 1): Read {
  const clock = manualClock();
  let discarded = 0;
  let letGo: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const response: WireResponse = {
    status: 200,
    header: (name) => (name === 'content-type' ? type : undefined),
    setCookie: [],
    async *chunks() {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        if (chunk instanceof Promise) await Promise.race([chunk, gone]);
        else yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        if (discarded > 0) return;
      }
    },
    discard() {
      discarded += 1;
      letGo();
    },
  };
  const at = {
    messages: [] as Message[],
    ids: [] as string[],
    retries: [] as number[],
    garbage: [] as string[],
    clock,
    get discarded() {
      return discarded;
    },
  };
  const end = readAnswer(
    response,
    wanted,
    {
      onMessage: (message) => at.messages.push(message),
      onEventId: (id) => at.ids.push(id),
      onRetry: (ms) => at.retries.push(ms),
      onGarbage: (what) => at.garbage.push(what),
    },
    (ms, fn) => clock.after(ms, fn),
  );
  return Object.assign(at, { end });
}

const JSON_TYPE = 'application/json';
const SSE = 'text/event-stream';
const response = (id: RequestId | null, rest: object = { result: {} }): string =>
  JSON.stringify({ jsonrpc: '2.0', id, ...rest });
const event = (data: string, rest = ''): string => `${rest}data: ${data}\n\n`;
const forever = new Promise<void>(() => {});
const note = '{"jsonrpc":"2.0","method":"notifications/progress"}';
const lost = (): WireError => new WireError(true, new Error('socket hang up'));

test('a JSON answer, however it is cut and whatever the case and parameters of its type', async () => {
  const bytes = Buffer.from(response(1, { result: { text: '日本 😀' } }));
  const at = read(
    'Application/JSON; charset=utf-8',
    Array.from(bytes, (byte) => Uint8Array.of(byte)),
  );
  assert.equal(await at.end, 'complete');
  assert.deepEqual(at.messages[0]?.result, { text: '日本 😀' });
});

test('an error is an answer', async () => {
  const at = read(JSON_TYPE, [response(1, { error: { code: -32601, message: 'no' } })]);
  assert.equal(await at.end, 'complete');
  assert.equal(at.messages.length, 1);
});

test('a batch is an answer when the response is in it; everything in it is handed on', async () => {
  const at = read(JSON_TYPE, [`[${note},${response(1)},${response(2)}]`]);
  assert.equal(await at.end, 'complete');
  assert.equal(at.messages.length, 3);
});

test('R085: the response to another request is none, and 1 is not "1"', async () => {
  for (const [body, wanted] of [
    [response(2), 1],
    [response('1'), 1],
    [response(1), '1'],
    [note, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 1],
  ] as const) {
    assert.equal(await read(JSON_TYPE, [body], wanted).end, 'unreadable', body);
  }
});

test('an error that names nobody, alone in the answer to one request, is the answer to that one', async () => {
  const at = read(JSON_TYPE, [response(null, { error: { code: -32000, message: 'quota exceeded' } })], 7);
  assert.equal(await at.end, 'complete');
  assert.deepEqual(at.messages, [
    { jsonrpc: '2.0', id: 7, error: { code: -32000, message: 'quota exceeded' } },
  ]);
});

test('R046: what is neither JSON nor an event stream is unreadable, and let go unread', async () => {
  for (const type of ['text/html', undefined, '', 'application/json-seq']) {
    const at = read(type, [response(1)]);
    assert.equal(await at.end, 'unreadable', String(type));
    assert.deepEqual([at.messages.length, at.discarded], [0, 1]);
  }
  for (const body of ['', '<html>', '{}', '[]', `[${response(1)},1]`]) {
    const at = read(JSON_TYPE, [body]);
    assert.equal(await at.end, 'unreadable', body);
    assert.equal(at.messages.length, 0);
  }
});

test('a body that breaks off is incomplete', async () => {
  verifies('lost/outcome-unknown');
  assert.equal(await read(JSON_TYPE, [response(1).slice(0, 9), lost()]).end, 'incomplete');
  assert.equal(await read(JSON_TYPE, [lost()]).end, 'incomplete');
  assert.equal(await read(SSE, [event(note), lost()]).end, 'incomplete');
  assert.equal(await read(SSE, [event(note)]).end, 'incomplete', 'a clean end without a response is one too');
  assert.equal(await read(SSE, [`data: ${response(1)}\n`]).end, 'incomplete', 'half an event');
  assert.equal(await read(SSE, []).end, 'incomplete');
});

test('an abort is no loss: its reason is handed on', async () => {
  const reason = new DOMException('given up', 'AbortError');
  for (const type of [JSON_TYPE, SSE]) {
    await assert.rejects(read(type, [reason]).end, (error) => error === reason);
  }
});

test('an answer as a stream: messages in order, ids and retry from which it could be resumed', async () => {
  verifies('lost/resumed');
  const at = read(SSE, [
    ': hello\n\n',
    event('', 'id: 0\nretry: 500\n'),
    event(note, 'id: 1\n'),
    event(response(1), 'event: message\nid: 2\n'),
  ]);
  assert.equal(await at.end, 'complete');
  assert.deepEqual(
    at.messages.map(({ method, id }) => method ?? id),
    ['notifications/progress', 1],
  );
  assert.deepEqual([at.ids, at.retries, at.garbage], [['0', '1', '2'], [500], []]);
});

test('R046: an event that is no JSON-RPC message is reported, and the answer goes on', async () => {
  const at = read(SSE, [event('<html>'), event(`{"x":"${'y'.repeat(1_000)}"}`), event(response(1))]);
  assert.equal(await at.end, 'complete');
  assert.deepEqual([at.garbage.length, at.garbage[0], at.garbage[1]?.length], [2, '<html>', 200]);
  assert.equal(at.messages.length, 1);
});

test('events of another name are none of ours', async () => {
  const at = read(SSE, [event(response(1), 'event: ping\n')]);
  assert.equal(await at.end, 'incomplete');
  assert.deepEqual([at.messages.length, at.garbage.length], [0, 0]);
});

test('the answer is complete with its response; what is left of the stream has one second', async () => {
  const at = read(SSE, [event(response(1)), forever]);
  assert.equal(await at.end, 'complete');
  await settle();
  await at.clock.advanceStepwise(999);
  assert.equal(at.discarded, 0);
  await at.clock.advanceStepwise(1);
  assert.ok(at.discarded > 0);
  assert.equal(at.clock.pending, 0);
});

test('a stream that ends after its response leaves no timer, one that breaks then has answered', async () => {
  for (const rest of [[], [lost()], [new DOMException('closed', 'AbortError')]]) {
    const at = read(SSE, [event(response(1)), ...rest]);
    assert.equal(await at.end, 'complete');
    await settle();
    assert.equal(at.clock.pending, 0);
  }
});

test('a response in the very chunk that ends the stream is an answer', async () => {
  const at = read(SSE, [event(note) + event(response(1)) + event(note)]);
  assert.equal(await at.end, 'complete');
  await settle();
  assert.equal(at.messages.length, 3);
});

test('an over-long event is the fault of this one answer: nothing is thrown that is no abort', async () => {
  const mebibyte = Buffer.alloc(1024 * 1024, 'x');
  const at = read(SSE, ['data: ', ...Array.from({ length: 64 }, () => mebibyte), '\n\n', event(response(1))]);
  const end = await at.end.catch((error: unknown) => `rejected: ${String(error)}`);
  assert.equal(end, 'too-large');
  assert.ok(at.discarded > 0, 'the rest is let go');
});
