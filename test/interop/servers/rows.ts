/**
 * What must hold with every server, whoever wrote it: the same rows for each, by what the server itself counts.
 * Owns: the rows. Refuses: to know the server; it is started anew for each row.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pause, until } from '../../support/until.js';
import { codeOf, everyWay, type Host, openHost } from '../../support/ways.js';
import { type ForeignServer, startForeignServer } from './foreign-server.js';

export type Command = readonly [string, ...string[]];

export interface ServerKind {
  /** Sessions are kept until they are ended. */
  command: Command;
  /** The same, but a session without a request for `timeoutMs` is ended by the server. Left out: it has no timer. */
  impatient?: { command: Command; timeoutMs: number };
}

const TEN = Array.from({ length: 10 }, (_, n) => `k${n}`);

async function callTen(host: Host, prefix: string): Promise<string[]> {
  const keys = TEN.map((key) => `${prefix}-${key}`);
  await Promise.all(keys.map((key) => host.call('count', { key })));
  return keys;
}

async function assertOnce(server: ForeignServer, keys: readonly string[]): Promise<void> {
  const { runs } = await server.counted();
  for (const key of keys) assert.equal(runs[key], 1, `${key} ran ${runs[key]} times`);
}

async function assertNobodyLeft(server: ForeignServer): Promise<void> {
  let left = Number.NaN;
  const look = async (): Promise<void> => {
    left = (await server.counted()).sessions;
  };
  for (let n = 0; n < 30 && left !== 0; n++) {
    await look();
    if (left !== 0) await pause(100);
  }
  assert.equal(left, 0, 'sessions that the server still holds');
}

/** Registers the rows as tests, for each major of the SDK and each way in. */
export function serverRows({ command, impatient }: ServerKind): void {
  const start = (t: TestContext): Promise<ForeignServer> => startForeignServer(t, command);

  everyWay('one initialize, ten calls, one DELETE at close', async (t, kind) => {
    const server = await start(t);
    const host = await openHost(t, kind, server.url);
    const keys = await callTen(host, 'a');
    assert.equal((await server.counted()).sessions, 1);
    await host.close();
    await assertNobodyLeft(server);
    await assertOnce(server, keys);
    assert.equal(server.count({ rpc: 'initialize' }), 1);
    assert.equal(server.count({ method: 'DELETE' }), 1);
  });

  everyWay('a restart in mid-life: ten of ten, with one initialize', async (t, kind) => {
    const server = await start(t);
    const host = await openHost(t, kind, server.url);
    await callTen(host, 'before');
    await server.restart();
    await assertOnce(server, await callTen(host, 'after'));
    assert.equal(server.count({ rpc: 'initialize' }), 2);
    assert.equal((await server.counted()).sessions, 1);
    await host.close();
    await assertNobodyLeft(server);
  });

  everyWay('a call that the server lost in the middle is told, and run once', async (t, kind) => {
    const server = await start(t);
    const host = await openHost(t, kind, server.url);
    const slow = codeOf(host.call('slow', { key: 'slow', ms: 20_000 }));
    await until('the tool to run', async () => (await server.counted()).runs.slow === 1);
    await server.restart();
    assert.equal(await slow, 'MOORING_OUTCOME_UNKNOWN');
    assert.equal((await server.counted()).runs.slow, undefined);
    await assertOnce(server, await callTen(host, 'after'));
    await host.close();
    await assertNobodyLeft(server);
  });

  everyWay('idle, its stream is let go and not asked for again', async (t, kind) => {
    const server = await start(t);
    const host = await openHost(t, kind, server.url, { bounds: { streamIdleMs: 300 } });
    await host.call('count', { key: 'a' });
    await until('the stream to come and go', () => {
      const ended = server.count({ method: 'GET' });
      return ended > 0 && ended === server.getsOpened;
    });
    const opened = server.getsOpened;
    await pause(3_000);
    assert.equal(server.getsOpened, opened);
    assert.ok(opened <= 2, `${opened} GETs`);
    await host.call('count', { key: 'b' });
    await host.close();
    await assertNobodyLeft(server);
  });

  if (impatient === undefined) return;
  const { timeoutMs } = impatient;
  everyWay('its own timer fires and nothing is noticed: ten of ten, with one initialize', async (t, kind) => {
    const server = await startForeignServer(t, impatient.command);
    const host = await openHost(t, kind, server.url, { bounds: { streamIdleMs: 100 } });
    await callTen(host, 'before');
    await pause(timeoutMs * 2 + 500);
    assert.equal((await server.counted()).sessions, 0, 'the timer has not fired');
    await assertOnce(server, await callTen(host, 'after'));
    assert.equal(server.count({ rpc: 'initialize' }), 2);
    await host.close();
    await assertNobodyLeft(server);
  });
}
