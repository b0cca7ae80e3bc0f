/**
 * The parts of one connection, as they see one another.
 * Owns: nothing but the bundle; connection.ts fills it, and every part finds its neighbours in it.
 */
import { MooringError } from '../errors.js';
import type { SessionEvent } from '../events.js';
import type { Message, WithId } from '../protocol/jsonrpc.js';
import type { Handle } from '../session/outbound/handle.js';
import type { Member } from '../session/outbound/list-changes.js';
import type { ListeningStream } from '../session/outbound/listening-stream.js';
import type { Inbox } from './inbox.js';
import type { OpenedSession } from './opened-session.js';
import type { Restore } from './restore.js';
import type { ServerContext } from './server-context.js';

export interface Parts {
  readonly context: ServerContext;
  readonly scope: string;
  readonly handle: Handle<OpenedSession>;
  readonly inbox: Inbox;
  readonly listening: ListeningStream;
  readonly restore: Restore;
  /** This connection among those whose lists are kept fresh together. */
  readonly member: Member;
  toHost(message: Message, request?: WithId): void;
  onError(error: Error): void;
  /** A session was opened, with these credentials. */
  onOpened(credentials: ReadonlyMap<string, string>): void;
  /** Close has begun. */
  onClosing(): void;
  /** A DELETE was answered with this status; undefined: it was not answered. */
  onDeleteAnswered(status: number | undefined): void;
  /** False: nobody would hear what a listening stream brings. */
  isHeard(): boolean;
  /** An id for a request of ours, never one of the host's. */
  nextId(): string;
  /** The `initialize` of the host, once it was sent. */
  initialize(): Message | undefined;
}

/** What every event says about a session. */
export function describe(
  { context, scope }: Pick<Parts, 'context' | 'scope'>,
  { number, opened }: { number: number; opened: OpenedSession },
): SessionEvent {
  return {
    server: context.name,
    scope,
    generation: number,
    ...(opened.id === undefined ? {} : { session: context.fingerprint(opened.id) }),
  };
}

/** An event that is no JSON-RPC message was left out. */
export function garbage({ context }: Pick<Parts, 'context'>, data: string): MooringError {
  return new MooringError(
    'MOORING_BAD_RESPONSE',
    `${context.name} sent an event that is no JSON-RPC message (${data.length} characters); it was left out`,
    { server: context.name },
  );
}
