/** What must hold of an agent's run with Mooring. */
import assert from 'node:assert/strict';
import type { AgentRun } from './drive.js';

/** Nothing is left, and nothing was asked for twice. */
export function assertEnded(run: AgentRun, sessions = 1): void {
  const { modelFaults, initializes, deletes, ended, live } = run;
  assert.deepEqual(modelFaults, []);
  assert.deepEqual(
    { initializes, deletes, ended, live },
    { initializes: sessions, deletes: 1, ended: 1, live: 0 },
  );
}
