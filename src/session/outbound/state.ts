/**
 * The outbound state machine, as a pure table: `opening -> live -> retiring -> ended`.
 * Owns: which event may follow which state. docs/lifecycle.md draws it.
 * Refuses: any way out of `ended`, any way back to `opening`.
 */

export type OutboundState = 'opening' | 'live' | 'retiring' | 'ended';

export type OutboundEvent =
  /** `initialize` was answered. */
  | 'opened'
  /** `initialize` failed or was given up without an id. */
  | 'open-failed'
  /** Take no new work. */
  | 'retire'
  /** The server does not know it any more, and its successor stands. */
  | 'expired'
  /** DELETE was confirmed, or is in the hands of the terminator. */
  | 'terminated';

const NEXT: Readonly<Record<OutboundState, Partial<Record<OutboundEvent, OutboundState>>>> = {
  opening: { opened: 'live', 'open-failed': 'ended', retire: 'retiring' },
  live: { retire: 'retiring', expired: 'ended' },
  retiring: { terminated: 'ended', expired: 'ended', 'open-failed': 'ended', opened: 'retiring' },
  ended: {},
};

/** The state after `event`, or undefined when the event has no meaning there (and changes nothing). */
export function nextOutbound(state: OutboundState, event: OutboundEvent): OutboundState | undefined {
  return NEXT[state][event];
}
