import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCore, createTally } from '../../src/client/core.js';
import { createCredentials } from '../../src/client/credentials.js';
import { readServerOptions } from '../../src/client/options.js';
import type { ServerContext } from '../../src/client/server-context.js';
import type { EndTarget } from '../../src/session/outbound/terminator.js';
import { verifies } from '../requirements.js';

function contexts(...urls: string[]): ServerContext[] {
  const core = createCore({
    hooks: false,
    release: () => Promise.resolve(),
    rest: () => Promise.resolve(),
  });
  return urls.map((url) => {
    const settings = readServerOptions(url, { url });
    return core.context(url, settings, createCredentials(url, settings), {
      tally: createTally(),
      principal: 'self',
      onAccepted: () => {},
    });
  });
}

test('two servers that issue the same id have two sessions: each is ended', async () => {
  verifies('ending/one-delete');
  const deleted: string[] = [];
  for (const { name, terminator } of contexts('http://a.example/mcp', 'http://b.example/mcp')) {
    const target: EndTarget = {
      id: '1',
      send: () => {
        deleted.push(name);
        return Promise.resolve({ status: 200 });
      },
      onConfirmed: () => {},
      onNotConfirmed: () => {},
    };
    assert.equal(await terminator.end(target, 2_000), true);
  }
  assert.deepEqual(deleted, ['http://a.example/mcp', 'http://b.example/mcp']);
});

test('two sessions of one URL share what ends them, so that no id gets two DELETEs at once', () => {
  const [a, again] = contexts('http://a.example/mcp', 'http://a.example/mcp');
  assert.equal(a?.terminator, again?.terminator);
  assert.equal(a?.owed, again?.owed);
});

test('what was learnt about a URL holds for it, and for no other', () => {
  const [a, again, b] = contexts('http://a.example/mcp', 'http://a.example/mcp', 'http://a.example/other');
  assert.equal(a?.memory, again?.memory);
  assert.notEqual(a?.memory, b?.memory);
  assert.equal(a?.wire, b?.wire, 'connections are shared');
  assert.equal(a?.limiter, again?.limiter, 'the pace outlives pools and configurations');
  assert.notEqual(a?.limiter, b?.limiter);
});
