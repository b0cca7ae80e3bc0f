/**
 * All inbound sessions of one server or route: by id, by principal, in order of their last work.
 * Owns: both maps, the counters, and the way in (admission.ts) and out (`end` of each session).
 * Refuses: to be asked about an id without a principal. Unknown, ended and another principal's are the same
 * answer, and looking changes nothing (reports R017, R062).
 */
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '../../clock.js';
import { MooringError } from '../../errors.js';
import { type EndReason, publish } from '../../events.js';
import { isSessionId } from '../../protocol/headers.js';
import { type Admission, createAdmissions } from './admission.js';
import { createInboundSession, type InboundSession, type SessionContext } from './session.js';

export interface InboundTableOptions {
  /** `server` of the events: the name or path of the route. */
  label: string;
  /** What may be shown in place of an id. */
  fingerprint: (id: string) => string;
  /** Makes session ids. @default crypto.randomUUID */
  mintId?: () => string;
  clock?: Clock;
  /** Milliseconds without work, with nothing in flight, until `onIdle`. @default 1_800_000 */
  idleMs?: number;
  /** What an idle session does: `end`, or `sleep` until the next work. @default 'end' */
  onIdle?: 'end' | 'sleep';
  /** Milliseconds for each step of the start: to the body, to the answer, to `initialized`. @default 30_000 */
  initializeMs?: number;
  /** Milliseconds that an unanswered server request, or a task without ttl, counts as in flight. @default 3_600_000 */
  answerMs?: number;
  /** Hard maximum age in ms; never cuts what is in flight. @default Infinity */
  maxAgeMs?: number;
  /** @default 10_000 */
  maxSessions?: number;
  /** @default 100 */
  maxPerPrincipal?: number;
  /** What it owned while awake has been released. */
  onSleep?: (session: InboundSession) => void;
  /** The request that woke it has begun. */
  onWake?: (session: InboundSession) => void;
  onEnd?: (session: InboundSession, reason: EndReason) => void;
  /** A release, a stream or one of these hooks threw. @default ignored */
  onError?: (error: unknown) => void;
}

/** Counts of one moment. */
export interface InboundStats {
  readonly fresh: number;
  readonly active: number;
  readonly idle: number;
  readonly dormant: number;
  readonly ghosts: number;
  readonly streams: number;
  /** Principals with at least one session. */
  readonly principals: number;
  /** Places held for an `initialize` that is not answered yet. */
  readonly reserved: number;
  readonly opened: number;
  readonly ended: Readonly<Partial<Record<EndReason, number>>>;
  /** `initialize` refused for want of room. */
  readonly refused: number;
  /** Ids of one principal that another one showed. */
  readonly strangers: number;
}

export interface InboundTable {
  /** Reserves a place for an `initialize`, synchronously; call it before the first await. */
  reserve(principal: string): Admission;
  /** The live session with this id, if it is this principal's. */
  find(id: string, principal: string): InboundSession | undefined;
  readonly size: number;
  stats(): InboundStats;
  /** Ends every session and reservation; resolves when all releases have settled. Never rejects. */
  close(reason?: EndReason): Promise<void>;
}

export function createInboundTable(options: InboundTableOptions): InboundTable {
  const { label, fingerprint, mintId = randomUUID, clock = systemClock, onIdle = 'end' } = options;
  const maxSessions = bound('maxSessions', options.maxSessions ?? 10_000);
  const maxPerPrincipal = bound('maxPerPrincipal', options.maxPerPrincipal ?? 100);
  const initializeMs = bound('initializeMs', options.initializeMs ?? 30_000);

  // Both in order of the last work: working moves a session to the end.
  const byId = new Map<string, InboundSession>();
  const byPrincipal = new Map<string, Map<string, InboundSession>>();
  const pending = new Set<Promise<void>>();
  const ended: Partial<Record<EndReason, number>> = {};
  let opened = 0;
  let refused = 0;
  let strangers = 0;

  const report = (error: unknown): void => {
    try {
      options.onError?.(error);
    } catch {
      // Whoever reports errors must not make more of them: the rest still has to be released.
    }
  };

  const context: SessionContext = {
    clock,
    label,
    fingerprint,
    initializeMs,
    onIdle,
    idleMs: bound('idleMs', options.idleMs ?? 30 * 60_000),
    answerMs: bound('answerMs', options.answerMs ?? 60 * 60_000),
    maxAgeMs: bound('maxAgeMs', options.maxAgeMs ?? Number.POSITIVE_INFINITY),
    onWork(session) {
      // Update if present, never upsert: a late answer must not bring an ended session back (report R017).
      if (byId.get(session.id) !== session) return;
      byId.delete(session.id);
      byId.set(session.id, session);
      const own = byPrincipal.get(session.principal);
      own?.delete(session.id);
      own?.set(session.id, session);
    },
    onSleep: (session) => options.onSleep?.(session),
    onWake: (session) => options.onWake?.(session),
    onEnd(session, reason) {
      byId.delete(session.id);
      const own = byPrincipal.get(session.principal);
      own?.delete(session.id);
      if (own?.size === 0) byPrincipal.delete(session.principal);
      ended[reason] = (ended[reason] ?? 0) + 1;
      try {
        options.onEnd?.(session, reason);
      } catch (error) {
        report(error);
      }
    },
    onError: report,
    onPending(settled) {
      pending.add(settled);
      void settled.then(() => pending.delete(settled));
    },
  };

  const newId = (wanted: string | undefined): string => {
    const id = wanted ?? mintId();
    if (!isSessionId(id))
      throw new MooringError('MOORING_BAD_OPTIONS', 'mintId made an id that no header can carry');
    if (byId.has(id)) throw new MooringError('MOORING_BAD_OPTIONS', 'mintId made an id that is in use');
    return id;
  };

  const admissions = createAdmissions({
    clock,
    initializeMs,
    maxSessions,
    maxPerPrincipal,
    onError: context.onError,
    onPending: context.onPending,
    onRefused: () => {
      refused++;
    },
    sessions: {
      size: (principal) => (principal === undefined ? byId : byPrincipal.get(principal))?.size ?? 0,
      inOrder: (principal) => (principal === undefined ? byId : byPrincipal.get(principal))?.values() ?? [],
    },
    open({ id, principal, protocolVersion, owned }) {
      const session = createInboundSession({ id: newId(id), principal, protocolVersion, owned }, context);
      byId.set(session.id, session);
      const own = byPrincipal.get(principal);
      if (own === undefined) byPrincipal.set(principal, new Map([[session.id, session]]));
      else own.set(session.id, session);
      opened++;
      publish('opened', { server: label, session: session.fingerprint });
      return session;
    },
  });

  return {
    reserve: (principal) => admissions.reserve(principal),
    find(id, principal) {
      const session = byId.get(id);
      if (session === undefined) return undefined;
      if (session.principal === principal) return session;
      strangers++;
      return undefined;
    },
    get size() {
      return byId.size;
    },
    stats() {
      const states = { fresh: 0, active: 0, idle: 0, dormant: 0, ended: 0 };
      let ghosts = 0;
      let streams = 0;
      for (const session of byId.values()) {
        states[session.state]++;
        if (session.isGhost) ghosts++;
        if (session.isListening) streams++;
      }
      const { fresh, active, idle, dormant } = states;
      return Object.freeze({
        fresh,
        active,
        idle,
        dormant,
        ghosts,
        streams,
        principals: byPrincipal.size,
        reserved: admissions.size,
        opened,
        ended: Object.freeze({ ...ended }),
        refused,
        strangers,
      });
    },
    async close(reason = 'closed') {
      admissions.close();
      for (const session of [...byId.values()]) session.end(reason);
      await Promise.all(pending);
    },
  };
}

function bound(name: string, value: number): number {
  if (value > 0) return value;
  throw new MooringError('MOORING_BAD_OPTIONS', `${name} must be more than 0`);
}
