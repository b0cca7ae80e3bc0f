/**
 * What Mooring tells whoever listens, over node:diagnostics_channel; costs nothing unheard.
 * Owns: channel names, the payload, the reasons a session ends for.
 * Refuses: ids and credentials; `session` is a fingerprint.
 */
import { channel } from 'node:diagnostics_channel';

/** Why a session ended. */
export type EndReason =
  | 'closed'
  | 'scope-ended'
  | 'reloaded'
  | 'idle'
  | 'evicted'
  | 'expired'
  | 'signal'
  | 'exit'
  | 'error'
  | 'drained'
  | 'gone'
  | 'max-age'
  | 'deleted';

/** Payload of every channel; a field that has no meaning for an event is left out. */
export interface SessionEvent {
  /** Name of the configured server, or its origin. */
  server: string;
  /** What the session belongs to. */
  scope?: string;
  /** First 12 hex digits of a keyed hash of the session id. */
  session?: string;
  /** Number of the attempt to open, from 1. */
  generation?: number;
  /** An {@link EndReason}, or why a stream closed or an open had to wait. */
  reason?: string;
  /** HTTP status that decided it. */
  status?: number;
  durationMs?: number;
}

const channels = {
  opened: channel('mooring:session:opened'),
  reopened: channel('mooring:session:reopened'),
  retired: channel('mooring:session:retired'),
  terminated: channel('mooring:session:terminated'),
  notConfirmed: channel('mooring:session:not-confirmed'),
  reclaimed: channel('mooring:session:reclaimed'),
  streamOpened: channel('mooring:stream:opened'),
  streamClosed: channel('mooring:stream:closed'),
  backedOff: channel('mooring:open:backed-off'),
} as const;

/** Short name of a channel inside the code. */
export type EventName = keyof typeof channels;

/** Channel names, for documentation and tests. */
export const CHANNEL_NAMES: readonly string[] = Object.values(channels).map((c) => String(c.name));

/** Publishes one event; a subscriber that throws is node's to report, not the caller's. */
export function publish(name: EventName, event: SessionEvent): void {
  const target = channels[name];
  if (target.hasSubscribers) target.publish(Object.freeze(event));
}
