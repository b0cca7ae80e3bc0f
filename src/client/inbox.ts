/**
 * Everything that a server sends, on its way to the host: checked against the generation it came on.
 * Owns: ids of server requests towards the host, tasks and answers owed (they hold the idle clock).
 * Refuses: a response that no request of that generation waits for.
 */
import { cancelledId, idKey } from '../protocol/ids.js';
import {
  isRequest,
  isResponse,
  kindOf,
  type Message,
  type RequestId,
  type WithId,
} from '../protocol/jsonrpc.js';
import { type ListChanges, listKindOf, type Member } from '../session/outbound/list-changes.js';
import type { ServerMemory } from '../session/outbound/server-memory.js';
import { createServerRequests } from '../session/outbound/server-requests.js';
import type { WorkClock } from '../session/work-clock.js';

export interface InboxOptions {
  /** `request`: the request whose answer it came with; undefined on the listening stream. */
  toHost(message: Message, request?: WithId): void;
  work(): WorkClock;
  memory: ServerMemory;
  lists: ListChanges;
  member: Member;
  /** The error of a request whose response will never come. */
  lost(): Error;
}

/** Where a message came from. */
export interface Origin {
  generation: number;
  /** The request whose answer this is part of; undefined on the listening stream. */
  request?: Message & { id: RequestId };
}

export interface Expectation {
  /** Resolves when the response came, rejects with MOORING_OUTCOME_UNKNOWN when it never will. */
  arrived: Promise<void>;
  readonly hasArrived: boolean;
  drop(): void;
}

export interface Inbox {
  take(message: Message, origin: Origin): void;
  /** The host's response: where it belongs, with the server's own id; undefined when nobody waits for it. */
  answer(
    response: Message & { id: RequestId },
  ): { generation: number; message: Message; key: string } | undefined;
  /** From before a request is sent: its response may come on the listening stream, also before its 202. */
  expect(id: RequestId, generation: number): Expectation;
  /** The listening stream of this generation is no more: what was to come on it never will. */
  abandon(generation: number): void;
  /** Requests of the server's that the host has not answered yet. */
  readonly unanswered: number;
  /** Nobody waits for the answers to this generation's requests any more: the host is told. */
  forget(generation: number): void;
}

interface Expected {
  generation: number;
  resolve(): void;
  reject(error: Error): void;
}

const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

export function createInbox(options: InboxOptions): Inbox {
  const { toHost, memory, lists, member } = options;
  const asked = createServerRequests();
  const expected = new Map<string, Expected>();

  const noteTask = (task: unknown): void => {
    if (typeof task !== 'object' || task === null) return;
    const { taskId, status, ttl } = task as { taskId?: unknown; status?: unknown; ttl?: unknown };
    if (typeof taskId !== 'string' || typeof status !== 'string') return;
    if (TERMINAL.has(status)) options.work().end('task', taskId);
    else options.work().begin('task', taskId, typeof ttl === 'number' ? ttl : undefined);
  };

  const takeResponse = (message: Message & { id: RequestId }, { request, generation }: Origin): void => {
    if (request === undefined) {
      const waiting = expected.get(idKey(message.id));
      if (waiting?.generation !== generation) return;
      expected.delete(idKey(message.id));
      toHost(message);
      waiting.resolve();
      return;
    }
    if (idKey(request.id) !== idKey(message.id)) return;
    const { result } = message;
    if (request.method === 'tools/list') memory.learnTools(result);
    if (request.method === 'tasks/get' || request.method === 'tasks/cancel') noteTask(result);
    else noteTask((result as { task?: unknown } | undefined)?.task);
    if (request.method === 'tasks/result') {
      const { taskId } = request.params ?? {};
      if (typeof taskId === 'string') options.work().end('task', taskId);
    }
    toHost(message, request);
  };

  const takeNotification = (message: Message, { generation, request }: Origin): void => {
    const method = message.method ?? '';
    if (method === 'notifications/cancelled') {
      const id = cancelledId(message.params);
      const hostId = id === undefined ? undefined : asked.cancel(generation, id);
      if (hostId === undefined) return;
      options.work().end('answer', answerKey(hostId));
      toHost({ ...message, params: { ...message.params, requestId: hostId } }, request);
      return;
    }
    if (method === 'notifications/tasks/status') noteTask(message.params);
    const kind = listKindOf(method);
    if (kind !== undefined) lists.heard(kind, member);
    toHost(message, request);
  };

  return {
    take(message, origin) {
      if (isResponse(message)) takeResponse(message, origin);
      else if (isRequest(message)) {
        if (message.method === 'ping' && origin.request === undefined) memory.pingsOnStream = true;
        const id = asked.deliver(origin.generation, message.id);
        options.work().begin('answer', answerKey(id));
        toHost({ ...message, id }, origin.request);
      } else if (kindOf(message) === 'notification') takeNotification(message, origin);
    },
    answer(response) {
      const place = asked.answer(response.id);
      if (place === undefined) return undefined;
      return {
        generation: place.generation,
        message: { ...response, id: place.id },
        key: answerKey(response.id),
      };
    },
    expect(id, generation) {
      const key = idKey(id);
      let own: Expected | undefined;
      let hasArrived = false;
      const arrived = new Promise<void>((done, reject) => {
        const resolve = (): void => {
          hasArrived = true;
          done();
        };
        own = { generation, resolve, reject };
        expected.set(key, own);
      });
      // Most responses come with the POST, and then nobody looks at this one.
      arrived.catch(() => {});
      return {
        arrived,
        get hasArrived() {
          return hasArrived;
        },
        drop() {
          if (expected.get(key) === own) expected.delete(key);
        },
      };
    },
    abandon(generation) {
      for (const [key, waiting] of expected) {
        if (waiting.generation !== generation) continue;
        expected.delete(key);
        waiting.reject(options.lost());
      }
    },
    get unanswered() {
      return asked.size;
    },
    forget(generation) {
      for (const requestId of asked.drop(generation)) {
        options.work().end('answer', answerKey(requestId));
        toHost({
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId, reason: 'the session that asked was lost' },
        });
      }
    },
  };
}

/** Key of an answer owed, in the work clock. */
export function answerKey(hostId: RequestId): string {
  return `answer ${idKey(hostId)}`;
}
