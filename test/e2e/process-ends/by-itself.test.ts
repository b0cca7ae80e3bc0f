import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../requirements.js';
import { assertReleased, everyWay, start } from './host.js';

describe('a host that ends', { concurrency: 2 }, () => {
  everyWay('naturally, idle and with live sessions, exits by itself with 0', async (t, kind) => {
    verifies('process-end/natural');
    const running = await start(t, kind, 'natural-end.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [0, null]);
  });

  everyWay('by process.exit() keeps its code', async (t, kind) => {
    verifies('process-end/exit');
    const running = await start(t, kind, 'process-exit.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [7, null]);
  });

  everyWay('by an uncaught error keeps the stack and the exit code of Node', async (t, kind) => {
    verifies('process-end/uncaught');
    const running = await start(t, kind, 'uncaught-throw.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [1, null]);
    assert.match(running.host.stderr, /Error: boom from a timer\n\s+at .*uncaught-throw\.mjs/);
  });

  everyWay('by an unhandled rejection as well', async (t, kind) => {
    verifies('process-end/uncaught');
    const running = await start(t, kind, 'unhandled-rejection.mjs');
    await running.host.event('ending');
    const end = await assertReleased(running, performance.now());
    assert.deepEqual([end.code, end.signal], [1, null]);
    assert.match(running.host.stderr, /boom from a promise/);
  });
});
