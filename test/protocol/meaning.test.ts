import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  meaningOfDelete,
  meaningOfListen,
  meaningOfPost,
  type PostMeaning,
  type PostReply,
} from '../../src/protocol/meaning.js';
import { verifies } from '../requirements.js';

const NOT_FOUND = '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}';
const LOST = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}';

const post = (status: number, rest: Partial<PostReply> = {}): PostMeaning =>
  meaningOfPost({ status, carriedId: true, challenged: false, hasRetryAfter: false, body: '', ...rest });

test('below 300 is an answer, whatever it carries', () => {
  for (const status of [200, 202, 204, 299]) assert.equal(post(status, { body: LOST }), 'answer');
  for (const status of [300, 302, 304]) assert.equal(post(status), 'failed');
});

test('a 404 refuses the session that the request carried, unless its body is -32601', () => {
  verifies('refused/method-not-found-is-an-answer');
  for (const body of ['', '<html>', LOST, NOT_FOUND.replace('-32601', '-32600')]) {
    assert.equal(post(404, { body }), 'refused', body);
  }
  assert.equal(post(404, { body: NOT_FOUND }), 'failed');
  assert.equal(post(404, { body: `[${NOT_FOUND}]` }), 'failed');
  assert.equal(post(404, { carriedId: false, body: LOST }), 'failed', 'there was no session to refuse');
});

test('a 400 refuses only when it names a session that it does not know', () => {
  assert.equal(post(400, { body: LOST }), 'refused');
  assert.equal(post(400, { body: LOST, carriedId: false }), 'failed');
  for (const body of ['', 'Bad Request', NOT_FOUND]) assert.equal(post(400, { body }), 'failed', body);
});

test('a 401 is about credentials, unless without a challenge its body names the session', () => {
  assert.equal(post(401), 'unauthorized');
  assert.equal(post(401, { body: 'token expired' }), 'unauthorized');
  assert.equal(post(401, { body: 'unknown session' }), 'refused');
  assert.equal(post(401, { body: 'unknown session', challenged: true }), 'unauthorized');
  assert.equal(post(401, { body: 'unknown session', carriedId: false }), 'unauthorized');
  assert.equal(post(403, { body: 'unknown session' }), 'failed');
});

test('R047: 429 and 503 are busy when they say until when; no 5xx costs the session', () => {
  verifies('refused/other-errors-keep-the-session');
  for (const status of [429, 503]) {
    assert.equal(post(status, { hasRetryAfter: true, body: LOST }), 'busy');
    assert.equal(post(status, { body: LOST }), 'failed');
  }
  for (const status of [405, 406, 409, 410, 500, 502, 504]) {
    assert.equal(post(status, { hasRetryAfter: true, body: LOST }), 'failed', String(status));
  }
});

test('R014: 2xx, 404, 405 and 501 confirm a DELETE, and no other status does', () => {
  verifies('ending/what-confirms');
  for (let status = 100; status < 600; status += 1) {
    const confirms = (status >= 200 && status < 300) || [404, 405, 501].includes(status);
    const meaning = confirms ? 'confirmed' : status === 401 ? 'unauthorized' : 'unconfirmed';
    assert.equal(meaningOfDelete(status), meaning, String(status));
  }
});

test('R026, R037: which answers to the GET mean no stream, and what a stream that had worked changes', () => {
  verifies('listen/not-offered');
  const listen = (status: number, hadWorked: boolean, isEventStream = false): string =>
    meaningOfListen({ status, hadWorked, isEventStream });
  for (const hadWorked of [false, true]) {
    assert.equal(listen(200, hadWorked, true), 'open');
    for (const status of [200, 202, 204, 405, 406, 501]) {
      assert.equal(listen(status, hadWorked), 'not-offered', String(status));
    }
    for (const status of [302, 403, 409, 429, 500, 502, 503]) {
      assert.equal(listen(status, hadWorked, true), 'retry', String(status));
    }
    assert.equal(listen(401, hadWorked), 'unauthorized');
  }
  assert.deepEqual([listen(404, false), listen(404, true)], ['not-offered', 'suspect']);
  assert.deepEqual([listen(400, false), listen(400, true)], ['not-offered', 'retry']);
});
