/**
 * A host as a process of its own, on any way in, and what must hold when it has ended.
 * Owns: starting it beside its server, and the three sessions that it opened.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { spawnHost } from '../../support/child.js';
import type { ChildEnd, HostChild, SpawnHostOptions } from '../../support/child.js';
import type { Major } from '../../support/clients.js';
import { assertAllEnded, confirmedDeletes } from '../../support/ended.js';
import { startSdkServer } from '../../support/sdk-server.js';
import type { SdkServer } from '../../support/sdk-server.js';
import { everyWay as everyWayOf, PROCESS_WAYS, preload } from '../../support/ways.js';
import type { Way } from '../../support/ways.js';

/** The process, and its sessions, must be gone this soon. */
export const GONE_MS = 3_000;

type Body = Parameters<typeof everyWayOf>[1];
export const everyWay = (title: string, run: Body): void => everyWayOf(title, run, { ways: PROCESS_WAYS });

interface Running {
  server: SdkServer;
  host: HostChild;
}

export async function start(
  t: TestContext,
  { way, major }: { way: Way; major: Major },
  file: string,
  options: SpawnHostOptions = {},
): Promise<Running> {
  const server = await startSdkServer({ major });
  const host = spawnHost(file, {
    ...options,
    nodeArgs: preload(way),
    args: [server.url, String(major), way],
  });
  t.after(async () => {
    await host.stop();
    await server.stop();
  });
  return { server, host };
}

/** What the server saw, a line a request, for the reader of a failure; ids by the order in which they were issued. */
function story({ log }: SdkServer): string {
  const issued = log.issued();
  const lines = log.entries.map(({ at, method, rpc, sid, sidOut, status, durationMs }) => {
    const session = sid ?? sidOut;
    const number = session === undefined ? '-' : issued.indexOf(session);
    const took = durationMs === undefined ? 'open' : `${Math.round(durationMs)} ms`;
    return `${Math.round(at)} ms: ${method} ${rpc.join('+')} session ${number}: ${status}, ${took}`;
  });
  return lines.join('\n');
}

/** All three sessions are confirmed, and the process went in time. */
export async function assertReleased({ server, host }: Running, since: number): Promise<ChildEnd> {
  const end = await host.ended;
  const took = performance.now() - since;
  assert.ok(took < GONE_MS, `gone after ${Math.round(took)} ms`);
  assert.equal(server.sessions, 0, `sessions are left\n${host.stderr}`);
  assert.equal(confirmedDeletes(server), 3, story(server));
  assert.equal(server.log.count({ rpc: 'initialize' }), 3, story(server));
  await assertAllEnded(server);
  return end;
}
