/**
 * The response to one POST of the library, made of messages as they come.
 * Owns: JSON when the answer is all there is, an event stream when something comes before it.
 * Refuses: to reject for a fault of the server's or ours: those are JSON-RPC errors for the posted ids.
 */
import { isMooringError } from '../../errors.js';
import { JSON_TYPE, SESSION_ID } from '../../protocol/headers.js';
import { idKey } from '../../protocol/ids.js';
import { errorResponse, isResponse, type Message, type RequestId } from '../../protocol/jsonrpc.js';
import { formatEvent, SSE_HEADERS } from '../../protocol/sse.js';
import { replyOf } from '../failures.js';

export interface PostReply {
  readonly response: Promise<Response>;
  /** A message of the answer. */
  push(message: Message): void;
  /** This request will not be answered. */
  fail(id: RequestId, error: unknown): void;
  /** Nobody reads it any more. */
  abort(reason: unknown): void;
}

export interface PostReplyOptions {
  url: URL;
  /** The requests that are to be answered, one at least. */
  ids: readonly RequestId[];
  isBatch: boolean;
  /** It opens the session: a status of the server's may mean an older transport, and the library knows more of them. */
  isOpening: boolean;
  /** Once there is a response: the id that the library knows the session by. */
  sessionId(): string | undefined;
  /** The library does not want the rest. */
  onCancel(): void;
}

export function createPostReply(options: PostReplyOptions): PostReply {
  const open = new Set(options.ids.map(idKey));
  const encoder = new TextEncoder();
  const answers: Message[] = [];
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;
  let resolve: (response: Response) => void;
  let reject: (reason: unknown) => void;
  const response = new Promise<Response>((...settle) => {
    [resolve, reject] = settle;
  });
  // It may be aborted before anybody waits for it.
  response.catch(() => {});

  const headers = (): Record<string, string> => {
    const id = options.sessionId();
    return id === undefined ? {} : { [SESSION_ID]: id };
  };

  const write = (message: Message): void => {
    stream?.enqueue(encoder.encode(formatEvent({ event: 'message', data: JSON.stringify(message) })));
  };

  const startStream = (): void => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller;
      },
      cancel() {
        if (isOver) return;
        isOver = true;
        options.onCancel();
      },
    });
    resolve(at(options.url, new Response(body, { headers: { ...SSE_HEADERS, ...headers() } })));
    for (const message of answers.splice(0)) write(message);
  };

  const finish = (): void => {
    isOver = true;
    if (stream !== undefined) {
      stream.close();
      return;
    }
    const body = JSON.stringify(options.isBatch ? answers : answers[0]);
    resolve(at(options.url, new Response(body, { headers: { 'content-type': JSON_TYPE, ...headers() } })));
  };

  /** What the server said with its status alone, where the library can do what we cannot: sign in, fall back. */
  const isForLibrary = (status: number): boolean => options.isOpening || status === 401 || status === 403;

  const push = (message: Message): void => {
    if (isOver) return;
    const isAnswer = isResponse(message) && open.delete(idKey(message.id));
    if (!isAnswer && stream === undefined) startStream();
    if (stream === undefined) answers.push(message);
    else write(message);
    if (open.size === 0) finish();
  };

  return {
    response,
    push,
    fail(id, error) {
      if (isOver || !open.has(idKey(id))) return;
      const told = replyOf(error);
      if (told !== undefined && isForLibrary(told.status) && stream === undefined && !options.isBatch) {
        isOver = true;
        resolve(at(options.url, asServerSaid(told)));
        return;
      }
      push(asError(id, error));
    },
    abort(reason) {
      if (isOver) return;
      isOver = true;
      reject(reason);
      stream?.error(reason);
    },
  };
}

/** `Response.url` is what was asked for, as with the real fetch. */
export function at(url: URL, response: Response): Response {
  Object.defineProperty(response, 'url', { value: url.href });
  return response;
}

/** An error of ours, or of the connection, in JSON-RPC. */
function asError(id: RequestId, error: unknown): Message {
  if (!isMooringError(error)) {
    return errorResponse(id, -32603, error instanceof Error ? error.message : String(error));
  }
  const { code, rpcCode, message, facts } = error;
  return errorResponse(id, rpcCode, message, { code, ...facts });
}

const HANDED_ON = ['content-type', 'www-authenticate', 'retry-after'] as const;

/** The answer of a server that was an HTTP status and perhaps some text. */
export function asServerSaid({
  status,
  response,
  errorText,
}: {
  status: number;
  response: { header(name: string): string | undefined };
  errorText: string;
}): Response {
  const headers = new Headers();
  for (const name of HANDED_ON) {
    const value = response.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Response(errorText, { status, headers });
}
