/**
 * The inbound state machine, as a pure table: `fresh -> active <-> idle -> dormant -> ended`.
 * Owns: which event may follow which state. docs/lifecycle.md draws it.
 * Refuses: any way out of `ended`, any way back to `fresh`, and waking up for anything but a request that
 * is not `ping`.
 */

/**
 * - `fresh`: `initialize` was answered, `notifications/initialized` has not come yet.
 * - `active`: something is in flight.
 * - `idle`: nothing is in flight; the idle clock runs.
 * - `dormant`: kept towards the client, nothing is held for it.
 * - `ended`: gone from every map; its id answers 404.
 */
export type InboundState = 'fresh' | 'active' | 'idle' | 'dormant' | 'ended';

export type InboundEvent =
  /** `notifications/initialized` came. */
  | 'initialized'
  /** A request that is neither `ping` nor `initialize` began; it stands for `initialized` where that is missing. */
  | 'request'
  /** Something else is in flight: a `ping`, an answer the client owes, a task. */
  | 'held'
  /** Nothing is in flight any more. */
  | 'quiet'
  /** The idle time is over and the policy says sleep. */
  | 'slept'
  /** Whatever ended it. */
  | 'ended';

const NEXT: Readonly<Record<InboundState, Partial<Record<InboundEvent, InboundState>>>> = {
  fresh: { initialized: 'idle', request: 'active', ended: 'ended' },
  active: { quiet: 'idle', ended: 'ended' },
  idle: { request: 'active', held: 'active', slept: 'dormant', ended: 'ended' },
  dormant: { request: 'active', ended: 'ended' },
  ended: {},
};

/** The state after `event`, or undefined when the event has no meaning there (and changes nothing). */
export function nextInbound(state: InboundState, event: InboundEvent): InboundState | undefined {
  return NEXT[state][event];
}
