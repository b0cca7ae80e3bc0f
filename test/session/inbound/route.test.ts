import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../src/protocol/jsonrpc.js';
import { type InboundRequest, routeInbound } from '../../../src/session/inbound/route.js';
import { fixture, VERSION } from './fixture.js';

const message = (method: string, id = 1): Message => ({ jsonrpc: '2.0', id, method });
const body = (...messages: Message[]) => ({ messages, isBatch: messages.length > 1 });
const LIST = body(message('tools/list'));
const INITIALIZE = body(message('initialize'));

function routes() {
  const parts = fixture();
  const route = (request: Partial<InboundRequest>) =>
    routeInbound(
      { method: 'POST', principal: 'p', sessionId: undefined, protocolVersion: undefined, ...request },
      { find: parts.table.find, isCallEvent: (id) => id.startsWith('call:') },
    );
  const refused = (request: Partial<InboundRequest>) => {
    const decision = route(request);
    assert.ok(decision.action === 'refuse', `${decision.action} instead of a refusal`);
    return decision.refusal;
  };
  return { ...parts, route, refused };
}

test('R044, R050: no id is 400; an unknown or an ended one is 404, -32001, id null, on all three methods alike', () => {
  const { open, refused } = routes();
  const ended = open();
  ended.end('idle');
  for (const method of ['POST', 'GET', 'DELETE']) {
    const missing = refused({ method, body: LIST });
    assert.deepEqual([missing.status, missing.body.error?.code, missing.body.id], [400, -32600, null]);
    for (const sessionId of ['never-issued', ended.id]) {
      const { status, headers, body: error } = refused({ method, sessionId, body: LIST });
      assert.equal(status, 404);
      assert.equal(headers['content-type'], 'application/json');
      assert.deepEqual(error, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32001, message: 'Session not found' },
      });
    }
  }
});

test("R061, R062: another principal's id is that same 404 on all three methods, and ends nothing", () => {
  const { open, refused, route, table } = routes();
  const session = open('u1');
  for (const method of ['POST', 'GET', 'DELETE']) {
    const other = refused({ method, sessionId: session.id, principal: 'u2', body: LIST });
    assert.deepEqual(other, refused({ method, sessionId: 'never-issued', principal: 'u2', body: LIST }));
  }
  assert.equal(table.stats().strangers, 3);
  assert.equal(route({ sessionId: session.id, principal: 'u1', body: LIST }).action, 'post');
});

test('R049: a dead id is 404 whatever else is wrong with the request', () => {
  const { refused } = routes();
  const sessionId = 'never-issued';
  assert.equal(refused({ sessionId, protocolVersion: '1999-01-01', body: LIST }).status, 404);
  assert.equal(refused({ sessionId, body: { messages: undefined, isBatch: false } }).status, 404);
  assert.equal(refused({ sessionId }).status, 404);
});

test('R052: 100 GETs, HEADs, OPTIONS and DELETEs without an id allocate nothing', () => {
  const { clock, refused, table } = routes();
  for (let n = 0; n < 100; n++) {
    const statuses = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT'].map((method) => refused({ method }).status);
    assert.deepEqual(statuses, [400, 405, 405, 400, 405]);
  }
  assert.equal(refused({ method: 'HEAD' }).headers.allow, 'GET, POST, DELETE');
  const { opened, reserved } = table.stats();
  assert.deepEqual([table.size, opened, reserved, clock.pending], [0, 0, 0, 0]);
});

test('initialize with an id, dead, alive or malformed: the header is ignored', () => {
  const { open, route } = routes();
  const session = open();
  for (const sessionId of [undefined, session.id, 'never-issued', 'bad id', '']) {
    assert.equal(route({ sessionId, body: INITIALIZE }).action, 'initialize');
  }
  assert.equal(session.state, 'idle');
});

test('R094, R095: the version header is ignored on initialize, the session knows it elsewhere, an unknown one is 400', () => {
  const { open, route, refused } = routes();
  const sessionId = open().id;
  for (const protocolVersion of [undefined, '1999-01-01', '2025-11-25']) {
    assert.equal(route({ protocolVersion, body: INITIALIZE }).action, 'initialize');
  }
  const versionFor = (protocolVersion?: string | string[]) => {
    const decision = route({ sessionId, protocolVersion, body: LIST });
    return decision.action === 'post' ? decision.version : decision.action;
  };
  assert.equal(versionFor(), VERSION);
  assert.equal(versionFor('2025-11-25'), '2025-11-25');
  assert.equal(versionFor('1999-01-01'), 'refuse');
  assert.equal(versionFor('2026-07-28'), 'refuse', 'that revision has no sessions');
  assert.equal(versionFor(''), 'refuse');
  for (const method of ['POST', 'GET', 'DELETE']) {
    assert.equal(refused({ method, sessionId, protocolVersion: '1999-01-01', body: LIST }).status, 400);
  }
});

test('R091: an identical repeated value counts as one; different ones do not', () => {
  const { open, route, refused } = routes();
  const sessionId = open().id;
  for (const protocolVersion of [`${VERSION}, ${VERSION}`, `${VERSION},${VERSION}`, [VERSION, VERSION]]) {
    assert.equal(route({ sessionId, protocolVersion, body: LIST }).action, 'post');
  }
  assert.equal(refused({ sessionId, protocolVersion: `${VERSION}, 2025-03-26`, body: LIST }).status, 400);
  assert.equal(route({ sessionId: `${sessionId}, ${sessionId}`, body: LIST }).action, 'post');
  assert.equal(refused({ sessionId: `${sessionId}, other`, body: LIST }).status, 400);
});

test('the syntax of an id: visible ASCII, at most 8,192 of it; anything else is 400, not 404', () => {
  const { refused, route, reserve } = routes();
  for (const sessionId of ['', 'a b', 'ta\tb', 'é', '\x7f', 'x'.repeat(8_193)]) {
    assert.equal(refused({ sessionId, body: LIST }).status, 400, JSON.stringify(sessionId.slice(0, 20)));
  }
  assert.equal(refused({ sessionId: 'x'.repeat(8_192), body: LIST }).status, 404);
  reserve().commit({ protocolVersion: VERSION, id: '!a,b~' });
  assert.equal(route({ sessionId: '!a,b~', body: LIST }).action, 'post', 'a comma is visible ASCII');
});

test('a DELETE needs no body', () => {
  const { open, route } = routes();
  const session = open();
  assert.deepEqual(route({ method: 'DELETE', sessionId: session.id }), { action: 'delete', session });
});

test("a GET listens; one whose Last-Event-ID names a call's stream resumes it", () => {
  const { open, route } = routes();
  const session = open();
  const get = (lastEventId?: string) => route({ method: 'GET', sessionId: session.id, lastEventId });
  assert.deepEqual(get(), { action: 'listen', session, lastEventId: undefined, version: VERSION });
  assert.deepEqual(get('listen:4'), { action: 'listen', session, lastEventId: 'listen:4', version: VERSION });
  assert.deepEqual(get('call:7'), { action: 'resume', session, lastEventId: 'call:7', version: VERSION });
});

test('R107: a batch is for 2025-03-26 only, initialize is never in one, an empty one is -32600', () => {
  const { open, reserve, refused, route } = routes();
  const sessionId = open().id;
  const old = reserve().commit({ protocolVersion: '2025-03-26' }).id;
  const batch = body(message('tools/list', 1), message('tools/list', 2));
  const errorOf = (request: Partial<InboundRequest>) => {
    const { status, body: error } = refused(request);
    return [status, error.error?.code];
  };
  assert.deepEqual(errorOf({ sessionId, body: batch }), [400, -32600]);
  assert.deepEqual(errorOf({ sessionId, body: { ...LIST, isBatch: true } }), [400, -32600]);
  assert.deepEqual(errorOf({ sessionId, body: { messages: undefined, isBatch: true } }), [400, -32600]);
  assert.equal(route({ sessionId: old, body: batch }).action, 'post');
  assert.deepEqual(errorOf({ sessionId: old, body: { messages: [], isBatch: true } }), [400, -32600]);
  assert.deepEqual(errorOf({ sessionId: old, body: { messages: undefined, isBatch: true } }), [400, -32600]);
  for (const id of [undefined, sessionId, old]) {
    const mixed = body(message('initialize', 1), message('tools/list', 2));
    assert.deepEqual(errorOf({ sessionId: id, body: mixed }), [400, -32600]);
  }
});

test('a body that is no JSON-RPC is 400 with -32700, and needs a session all the same', () => {
  const { open, refused } = routes();
  const sessionId = open().id;
  for (const junk of [undefined, { messages: undefined, isBatch: false }]) {
    const request = { sessionId, ...(junk && { body: junk }) };
    assert.deepEqual([refused(request).status, refused(request).body.error?.code], [400, -32700]);
  }
});

test('R065: no refusal names an id or a principal', () => {
  const { open, refused } = routes();
  const session = open('principal-1');
  const answers = [
    refused({ sessionId: session.id, principal: 'principal-2', body: LIST }),
    refused({ sessionId: `${session.id} x`, body: LIST }),
    refused({ sessionId: session.id, principal: 'principal-1', protocolVersion: 'x', body: LIST }),
    refused({ body: LIST }),
  ];
  const text = JSON.stringify(answers);
  assert.equal(text.includes(session.id) || text.includes('principal-'), false);
});
