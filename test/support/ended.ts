/**
 * What must hold on a server when its hosts are closed.
 */
import assert from 'node:assert/strict';
import type { RequestLog } from '../../demo/request-log.js';
import { until } from './until.js';

interface AnyServer {
  readonly log: RequestLog;
  readonly sessions: number;
}

/** Nobody is left: no session in the table, no request open, never two DELETEs at once for one id. */
export async function assertAllEnded(server: AnyServer, timeoutMs = 3_000): Promise<void> {
  await until('an empty session table', () => server.sessions === 0, { timeoutMs });
  await until('no open request', () => server.log.entries.every((e) => e.durationMs !== undefined), {
    timeoutMs,
  });
  const deletes = server.log.select({ method: 'DELETE' });
  for (const [i, one] of deletes.entries()) {
    for (const other of deletes.slice(i + 1)) {
      if (other.sid !== one.sid) continue;
      assert.ok(other.at >= one.at + (one.durationMs ?? 0), 'two DELETEs at once for one id');
      assert.ok(one.status === undefined || one.status >= 300, 'a DELETE after a confirmed one');
    }
  }
}

/** The answered requests that ended a session. */
export function confirmedDeletes({ log }: AnyServer): number {
  return log.select({ method: 'DELETE' }).filter(({ status }) => status !== undefined && status < 300).length;
}
