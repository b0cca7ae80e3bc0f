/**
 * One handle on one server, in messages: what the host sends goes in, what the server says comes out.
 * Owns: putting the parts together, and which path a message takes.
 * Refuses: anything but single JSON-RPC messages; a second `initialize`.
 */
import { AsyncResource } from 'node:async_hooks';
import { MooringError } from '../errors.js';
import type { EndReason } from '../events.js';
import { eraOf } from '../protocol/eras.js';
import { cancelledId } from '../protocol/ids.js';
import {
  envelopeVersion,
  isRequest,
  isResponse,
  kindOf,
  type Message,
  type RequestId,
  type WithId,
} from '../protocol/jsonrpc.js';
import { createHandle, type Handle } from '../session/outbound/handle.js';
import type { Member } from '../session/outbound/list-changes.js';
import { outcomeUnknown } from './failures.js';
import { createInbox } from './inbox.js';
import { createListener } from './listener.js';
import { InitializeRefused, type OpenedSession } from './opened-session.js';
import { createOperations } from './operations.js';
import { createOutgoing, type SendOptions } from './outgoing.js';
import type { Parts } from './parts.js';
import { createRestore } from './restore.js';
import type { ServerContext } from './server-context.js';
import { createSessionPorts } from './session-ports.js';
import { sendStateless } from './stateless.js';

export interface ConnectionOptions {
  scope: string;
  /** `request`: the request whose answer it came with, if it did. */
  toHost(message: Message, request?: WithId): void;
  onError(error: Error): void;
  /** Idle for `idleMs`. @default the session is put to sleep, and the next work opens another */
  onIdle?(): void;
  /** A session was opened, with these credentials; the first one or a later one. */
  onOpened?(credentials: ReadonlyMap<string, string>): void;
  /** Close has begun, by whomever. */
  onClosing?(): void;
  /** Close is over. */
  onEnded?(): void;
  /** A DELETE was answered with this status; undefined: it was not answered. */
  onDeleteAnswered?(status: number | undefined): void;
  /** False: nobody would hear what a listening stream brings. @default true */
  isHeard?(): boolean;
}

export interface Connection {
  /**
   * Resolves when the message has been taken, for a request when its response has been handed to the host.
   * Rejects with a MooringError.
   */
  send(message: Message, options?: SendOptions): Promise<void>;
  close(reason: EndReason, limits?: { drainMs?: number; deleteMs?: number }): Promise<void>;
  readonly handle: Handle<OpenedSession>;
  /** The first id that the server issued; it stays the host's for good. */
  readonly firstId: string | undefined;
  readonly streamOpen: boolean;
  /** Somebody hears from now on; see `isHeard`. */
  heard(): void;
  /** The version that the host negotiated; only 2026-07-28 and later matter, the rest is each session's own. */
  setVersion(version: string): void;
}

/** How long a server request may stay unanswered while it holds the idle clock, ms (DESIGN: answerMs). */
const ANSWER_MS = 60 * 60_000;

export function createConnection(shared: ServerContext, options: ConnectionOptions): Connection {
  // Hosts with many users find theirs in an async context; what this session does by itself it does in its opener's.
  const context: ServerContext = {
    ...shared,
    background: AsyncResource.bind(() => shared.credentials.headers()),
  };
  const { settings, lists } = context;
  const operations = createOperations(context, options.scope);
  const toHost: ConnectionOptions['toHost'] = (message, request) => {
    operations.saw(message);
    options.toHost(message, request);
  };
  let initialize: Message | undefined;
  let firstId: string | undefined;
  let statelessVersion: string | undefined;
  let counter = 0;
  let finished: Promise<void> | undefined;

  const member: Member = {
    declares: (kind) => parts.handle.current?.opened.declared.has(kind) === true,
    isListening: () => parts.listening.state === 'open',
    tell: (kind) => toHost({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` }),
  };

  // Each part finds the others here when it needs them; none needs another while it is made.
  const parts = {
    context,
    scope: options.scope,
    restore: createRestore(),
    member,
    toHost,
    onError: options.onError,
    onOpened: (credentials: ReadonlyMap<string, string>) => {
      context.onAccepted(credentials);
      options.onOpened?.(credentials);
    },
    onClosing: () => options.onClosing?.(),
    onDeleteAnswered: (status: number | undefined) => options.onDeleteAnswered?.(status),
    isHeard: () => options.isHeard?.() ?? true,
    nextId: () => `mooring-${++counter}`,
    initialize: () => initialize,
  } as { -readonly [K in keyof Parts]: Parts[K] };
  parts.inbox = createInbox({
    toHost,
    work: () => parts.handle.work,
    memory: context.memory,
    lists,
    member,
    lost: () => outcomeUnknown(context, { jsonrpc: '2.0', method: 'a request answered with 202' }),
  });
  parts.handle = createHandle<OpenedSession>(
    createSessionPorts(parts, () => {
      if (options.onIdle === undefined) void parts.handle.sleep('idle');
      else options.onIdle();
    }),
    {
      clock: context.clock,
      limiter: context.limiter,
      terminator: context.terminator,
      server: context.name,
      // Bounds are read when they are needed: a reload may change them.
      get openMs() {
        return settings.acquireMs;
      },
      get idleMs() {
        return settings.idleMs;
      },
      get deleteMs() {
        return settings.deleteMs;
      },
      answerMs: ANSWER_MS,
    },
  );
  parts.listening = createListener(parts, () => outgoing.ping());
  const outgoing = createOutgoing(parts);
  const leaveLists = lists.join(member);
  const { handle } = parts;

  const open = async (message: Message & { id: RequestId }): Promise<void> => {
    if (initialize !== undefined && handle.current !== undefined) {
      throw new MooringError('MOORING_BAD_REQUEST', 'this transport is initialized already; use a new one');
    }
    initialize = message;
    try {
      const generation = await handle.open();
      firstId ??= generation.opened.id;
      toHost({ ...generation.opened.response, id: message.id });
    } catch (error) {
      if (!(error instanceof InitializeRefused)) throw error;
      toHost({ ...error.response, id: message.id });
    }
  };

  const send = async (message: Message, sendOptions: SendOptions): Promise<void> => {
    if (kindOf(message) === 'invalid') {
      throw new MooringError(
        'MOORING_BAD_REQUEST',
        'this is no single JSON-RPC message; send batches one by one',
      );
    }
    if (isResponse(message)) return outgoing.answer(message);
    if (message.method === 'notifications/cancelled') {
      const id = cancelledId(message.params);
      return id === undefined ? undefined : outgoing.cancel(message, id);
    }
    if (isRequest(message) && message.method === 'initialize') return open(message);
    const version = envelopeVersion(message) ?? (initialize === undefined ? statelessVersion : undefined);
    if (version !== undefined && eraOf(version) === 'stateless') {
      return sendStateless(parts, message, version, sendOptions);
    }
    if (initialize === undefined) {
      throw new MooringError(
        'MOORING_BAD_REQUEST',
        `send initialize before ${message.method ?? 'anything else'}`,
      );
    }
    if (!isRequest(message)) return outgoing.notification(message, sendOptions);
    if (message.method === 'ping' && handle.phase === 'dormant') {
      // Kept alive towards the host while nothing is held at the server.
      return toHost({ jsonrpc: '2.0', id: message.id, result: {} });
    }
    return outgoing.request(message, sendOptions);
  };

  /** By the time that an answer has been handed over, its session may be gone. */
  let negotiated: string | undefined;
  const spoken = (message: Message): string | undefined => {
    negotiated = handle.current?.opened.version ?? negotiated;
    return envelopeVersion(message) ?? negotiated ?? statelessVersion;
  };

  return {
    send: (message, sendOptions = {}) =>
      operations.run(
        message,
        () => spoken(message),
        () => send(message, sendOptions),
      ),
    close(reason, { drainMs = settings.drainMs, deleteMs = settings.deleteMs } = {}) {
      const closing = handle.close(reason, { drainMs, deleteMs });
      finished ??= closing.then(() => {
        parts.listening.stop();
        leaveLists();
        options.onEnded?.();
      });
      return finished;
    },
    handle,
    get firstId() {
      return firstId;
    },
    get streamOpen() {
      return parts.listening.state === 'open';
    },
    heard: () => parts.listening.heard(),
    setVersion(version) {
      if (eraOf(version) === 'stateless') statelessVersion = version;
    },
  };
}
