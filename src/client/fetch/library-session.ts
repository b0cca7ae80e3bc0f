/**
 * One session as a library sees it through `fetch`: its POSTs, its GET, its DELETE, one id for good.
 * Owns: which POST an incoming message belongs to, and when the library's silence means that it is over.
 * Refuses: to decide about the real session: the connection and the pool do.
 */
import type { Clock, Timer } from '../../clock.js';
import type { EndReason } from '../../events.js';
import { idKey } from '../../protocol/ids.js';
import { isRequest, isResponse, type Message, parseMessages, type WithId } from '../../protocol/jsonrpc.js';
import type { Entry } from '../../session/outbound/pool.js';
import { linkedController } from '../../session/waiting.js';
import { type Connection, createConnection } from '../connection.js';
import { replyOf } from '../failures.js';
import type { ServerContext } from '../server-context.js';
import { type Call, hostHeaders } from './call.js';
import { createHeldStream } from './held-stream.js';
import { asServerSaid, at, createPostReply, type PostReply } from './post-reply.js';
import { createSpokenCredentials } from './spoken-credentials.js';

export interface LibrarySession {
  /** Its own name among all sessions of one `fetch`. */
  readonly scope: string;
  /** Server and principal. */
  readonly server: string;
  readonly connection: Connection;
  /** The id that the library knows it by; undefined for a server that issues none. */
  readonly id: string | undefined;
  /** Sends `initialize`; rejects when there is no session afterwards. */
  start(): Promise<void>;
  readonly hasStarted: boolean;
  /** The response to the call that opened it. */
  readonly opening: Promise<Response>;
  /** It was never its turn: what that call hears. */
  failOpening(response: Promise<Response>): void;
  post(call: Call): Promise<Response>;
  listen(call: Call): Response;
  /** The library's own DELETE. */
  remove(call: Call): Promise<Response>;
  /** Ends it for good. */
  close(reason: EndReason, limits?: { drainMs?: number; deleteMs?: number }): Promise<void>;
}

export interface LibrarySessionOptions {
  context: ServerContext;
  clock: Clock;
  server: string;
  scope: string;
  call: Call;
  initialize: WithId & { method: string };
  /** Borrows the real session for one call; rejects with a MooringError. */
  acquire(session: LibrarySession, signal: AbortSignal): Promise<Entry<LibrarySession>>;
  release(entry: Entry<LibrarySession>): void;
  /** The library is done with it, or nothing happened for long: the real session is not worth its place. */
  rest(session: LibrarySession, reason: EndReason): void;
  /** A name that no other session of this server has. */
  nameFor(issued: string): string;
  onEnded(session: LibrarySession): void;
  isEnding(): boolean;
}

/** A library that lets go of its stream and does not ask again within this is done, ms. */
const LEFT_MS = 2_000;

export function createLibrarySession(options: LibrarySessionOptions): LibrarySession {
  const { clock, scope, call: first, initialize } = options;
  const spoken = createSpokenCredentials(first.headers);
  const context: ServerContext = {
    ...options.context,
    credentials: spoken.credentials,
    background: spoken.credentials.headers,
    latest: { headers: new Map() },
  };
  const replies = new Map<string, PostReply>();
  let id: string | undefined;
  let left: Timer | undefined;
  let hasLeft = false;
  let timesLeft = 0;
  let inFlight = 0;
  let isOver = false;
  let deleteAnswer: number | undefined;

  const noteLeft = (): void => {
    if (isOver) return;
    timesLeft += 1;
    left?.cancel();
    left = clock.after(LEFT_MS, () => {
      hasLeft = true;
      restIfLeft();
    });
  };
  const restIfLeft = (): void => {
    if (hasLeft && inFlight === 0 && !isOver) options.rest(session, 'closed');
  };
  const noteBack = (): void => {
    left?.cancel();
    left = undefined;
    hasLeft = false;
  };

  const held = createHeldStream(noteLeft);

  /** The first generation names the session, before its answer is handed on. */
  const ownId = (): string | undefined => {
    const issued = connection.firstId;
    if (id === undefined && issued !== undefined) id = options.nameFor(issued);
    return id;
  };

  const connection = createConnection(context, {
    scope,
    toHost(message, request) {
      // A response finds its POST by its own id; what came with one, by that one's.
      const about = request ?? (isResponse(message) ? message : undefined);
      const reply = about === undefined ? undefined : replies.get(idKey(about.id));
      if (reply === undefined) held.push(message);
      else reply.push(message);
    },
    onError: () => {},
    onIdle: () => options.rest(session, 'idle'),
    onDeleteAnswered(status) {
      deleteAnswer = status;
    },
    isHeard: () => held.wasAsked,
  });

  /** One reply for the requests of a POST; `run` sends them. */
  const answer = (
    call: Call,
    requests: readonly WithId[],
    isBatch: boolean,
    run: (request: WithId, signal: AbortSignal) => Promise<void>,
  ): Promise<Response> => {
    const { controller, unlink } = linkedController(call.signal ?? new AbortController().signal);
    const reply = createPostReply({
      url: call.url,
      ids: requests.map((request) => request.id),
      isBatch,
      isOpening: requests.includes(initialize),
      sessionId: ownId,
      onCancel: () => controller.abort(new DOMException('the library cancelled the body', 'AbortError')),
    });
    const onAbort = (): void => reply.abort(controller.signal.reason);
    controller.signal.addEventListener('abort', onAbort, { once: true });
    if (controller.signal.aborted) onAbort();
    inFlight += 1;
    const all = requests.map(async (request) => {
      replies.set(idKey(request.id), reply);
      try {
        await run(request, controller.signal);
      } catch (error) {
        if (!controller.signal.aborted && !options.isEnding()) reply.fail(request.id, error);
      } finally {
        if (replies.get(idKey(request.id)) === reply) replies.delete(idKey(request.id));
      }
    });
    void Promise.all(all).then(() => {
      controller.signal.removeEventListener('abort', onAbort);
      unlink();
      inFlight -= 1;
      restIfLeft();
    });
    return reply.response;
  };

  const sendRequest = async (request: WithId, call: Call, signal: AbortSignal): Promise<void> => {
    const headers = hostHeaders(call.headers);
    // Kept alive towards the library while nothing is held at the server: a ping wakes nothing.
    if (request.method === 'ping') return connection.send(request, { headers, signal });
    const entry = await options.acquire(session, signal);
    try {
      await connection.send(request, { headers, signal });
    } finally {
      options.release(entry);
    }
  };

  /** Notifications and answers: taken, whatever becomes of them, but for what the server itself says. */
  const sendOther = async (message: Message, call: Call): Promise<Response | undefined> => {
    try {
      await connection.send(message, { headers: hostHeaders(call.headers) });
    } catch (error) {
      const told = replyOf(error);
      if (told !== undefined) return asServerSaid(told);
    }
    return undefined;
  };

  const accepted = (call: Call): Response => at(call.url, new Response(null, { status: 202 }));

  let hasStarted = false;
  let openings: { resolve(response: Promise<Response>): void };
  const opening = new Promise<Response>((resolve) => {
    openings = { resolve };
  });

  const session: LibrarySession = {
    scope,
    server: options.server,
    connection,
    get hasStarted() {
      return hasStarted;
    },
    failOpening: (response) => openings.resolve(response),
    get id() {
      return ownId();
    },
    opening,
    async start() {
      hasStarted = true;
      let failure: Error | undefined;
      const response = answer(first, [initialize], false, async (request, signal) => {
        const onAbort = (): void => void session.close('closed', { drainMs: 0 });
        signal.addEventListener('abort', onAbort, { once: true });
        try {
          await connection.send(request, { headers: hostHeaders(first.headers), signal });
        } catch (error) {
          failure = error as Error;
          throw error;
        } finally {
          signal.removeEventListener('abort', onAbort);
        }
      });
      openings.resolve(response);
      await response.catch(() => {});
      if (connection.handle.current === undefined) throw failure ?? new Error('initialize was refused');
    },
    async post(call) {
      const leftBefore = timesLeft;
      const text = await call.text();
      const messages = parseMessages(text);
      if (messages === undefined) {
        const body = JSON.stringify({
          jsonrpc: '2.0',
          id: null,
          error: { code: -32700, message: 'the body is not JSON-RPC' },
        });
        return at(
          call.url,
          new Response(body, { status: 400, headers: { 'content-type': 'application/json' } }),
        );
      }
      spoken.heard(call.headers);
      const requests = messages.filter(isRequest);
      // Work that was posted before the library let go is no sign that it came back.
      if (requests.length > 0 && timesLeft === leftBefore) noteBack();
      const others = messages.filter((message) => !isRequest(message));
      if (requests.length > 0) {
        for (const message of others) void sendOther(message, call);
        const isBatch = text.trimStart().startsWith('[');
        return answer(call, requests, isBatch, (request, signal) => sendRequest(request, call, signal));
      }
      const told = await Promise.all(others.map((message) => sendOther(message, call)));
      return told.find((response) => response !== undefined) ?? accepted(call);
    },
    listen(call) {
      spoken.heard(call.headers);
      noteBack();
      const response = held.open(call.url, call.signal);
      connection.heard();
      return response;
    },
    async remove(call) {
      spoken.heard(call.headers);
      await session.close('closed', { drainMs: 0 });
      // Gone is gone: a library's own clean-up must not fail because the server was quicker, or is slow (R014).
      const status = deleteAnswer ?? 204;
      const isSaid = (status >= 200 && status < 300) || status === 405;
      return at(call.url, new Response(null, { status: isSaid ? status : 204 }));
    },
    close(reason, limits) {
      isOver = true;
      left?.cancel();
      held.end();
      options.onEnded(session);
      return connection.close(reason, limits);
    },
  };
  return session;
}
