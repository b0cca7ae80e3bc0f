/**
 * One outbound session: one attempt to open, its number, its state, what runs on it.
 * Owns: the state (through state.ts), the count of requests on it.
 * Refuses: to decide anything; handle.ts does.
 */
import { nextOutbound, type OutboundEvent, type OutboundState } from './state.js';

/** What a successful `initialize` brought. */
export interface Opened {
  /** The id that the server issued; undefined when it issued none (nothing to end, nothing to listen to). */
  id: string | undefined;
}

export interface Generation<O extends Opened> {
  /** Number of the attempt to open, from 1. */
  readonly number: number;
  readonly opened: O;
  /** clock.now() when `initialize` was answered. */
  readonly bornAt: number;
  readonly state: OutboundState;
  /** HTTP status of the first refusal, once there was one. */
  refusedWith: number | undefined;
  /** The generation that this one replaced. */
  predecessor: Generation<O> | undefined;
  /** Requests that run on it. */
  flights: number;
  /** Applies an event; false when it has no meaning in this state. */
  apply(event: OutboundEvent): boolean;
}

export function createGeneration<O extends Opened>(number: number, opened: O, bornAt: number): Generation<O> {
  let state: OutboundState = 'opening';
  return {
    number,
    opened,
    bornAt,
    get state() {
      return state;
    },
    refusedWith: undefined,
    predecessor: undefined,
    flights: 0,
    apply(event) {
      const next = nextOutbound(state, event);
      if (next === undefined) return false;
      state = next;
      return true;
    },
  };
}
