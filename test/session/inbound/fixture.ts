import assert from 'node:assert/strict';
import type { Reservation } from '../../../src/session/inbound/admission.js';
import type { InboundSession } from '../../../src/session/inbound/session.js';
import { createInboundTable, type InboundTableOptions } from '../../../src/session/inbound/table.js';
import { manualClock } from '../../support/manual-clock.js';

export const VERSION = '2025-06-18';

/** A table on a manual clock, with ids that can be read, and short ways to open a session. */
export function fixture(options: Partial<InboundTableOptions> = {}) {
  const clock = manualClock();
  const errors: unknown[] = [];
  let minted = 0;
  const table = createInboundTable({
    label: '/mcp',
    fingerprint: (id) => `fp(${id.length})`,
    mintId: () => `S${++minted}`,
    clock,
    onError: (error) => errors.push(error),
    ...options,
  });

  const reserve = (principal = 'p'): Reservation => {
    const admission = table.reserve(principal);
    assert.ok('reservation' in admission, 'a place was expected');
    return admission.reservation;
  };
  /** `initialize` answered. */
  const fresh = (principal = 'p'): InboundSession => reserve(principal).commit({ protocolVersion: VERSION });
  /** `initialized` too. */
  const open = (principal = 'p'): InboundSession => {
    const session = fresh(principal);
    session.initialized();
    return session;
  };
  let requests = 0;
  /** One call that is work. */
  const work = (session: InboundSession): void => {
    session.beginRequest(++requests, 'tools/call')?.end(200);
  };
  return { clock, errors, table, reserve, fresh, open, work };
}

/** What `reserve` refused, or a failure. */
export function refusalOf(admission: ReturnType<ReturnType<typeof fixture>['table']['reserve']>) {
  assert.ok('refusal' in admission, 'a refusal was expected');
  return admission.refusal;
}
