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
  /** Of a retired session: the version that it spoke, and the origin of its server. */
  protocolVersion?: string;
  origin?: string;
}

/** Payload of the two channels about requests: what was asked, never with what, nor what came. */
export interface RequestEvent {
  /** Name of the configured server, or its origin. */
  server: string;
  /** Scheme, host and port. */
  origin: string;
  scope: string;
  /** The same in both events of one request, and in no other. */
  request: symbol;
  /** The JSON-RPC method. */
  method: string;
  /** Name of the tool or prompt. */
  target?: string;
  /** `answered`: a `MOORING_*` code, a JSON-RPC code, or `tool_error`; left out when it succeeded. */
  error?: string;
  /** `answered`: the code of a JSON-RPC error. */
  rpcCode?: number;
  /** `answered`: negotiated, or named by the request. */
  protocolVersion?: string;
  /** `answered`: from the host's request to its answer, whatever was re-opened in between. */
  durationMs?: number;
}

/** About sessions and their streams. */
const sessionChannels = {
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

/** About what the host asks. */
const requestChannels = {
  requestStarted: channel('mooring:request:started'),
  requestAnswered: channel('mooring:request:answered'),
} as const;

const channels = { ...sessionChannels, ...requestChannels };

/** Short name of a channel inside the code. */
export type EventName = keyof typeof channels;

/** What each channel carries. */
type Payload<N extends EventName> = N extends keyof typeof requestChannels ? RequestEvent : SessionEvent;

/** Names of the channels about sessions and streams, for documentation, logs and tests. */
export const CHANNEL_NAMES: readonly string[] = Object.values(sessionChannels).map((c) => String(c.name));

/** True when somebody listens. */
export function isHeard(name: EventName): boolean {
  return channels[name].hasSubscribers;
}

/** Publishes one event; a subscriber that throws is node's to report, not the caller's. */
export function publish<N extends EventName>(name: N, event: Payload<N>): void {
  const target = channels[name];
  if (target.hasSubscribers) target.publish(Object.freeze(event));
}

/** Hears one channel; the result stops it. */
export function listen<N extends EventName>(name: N, hear: (event: Payload<N>) => void): () => void {
  const onMessage = (event: unknown): void => hear(event as Payload<N>);
  channels[name].subscribe(onMessage);
  return () => {
    channels[name].unsubscribe(onMessage);
  };
}
