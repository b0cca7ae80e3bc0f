/**
 * The listening stream of one connection over HTTP: the GET, its events, its place among the list changes.
 * Refuses: to know when a stream is wanted; session/outbound/listening-stream.ts does.
 */
import { publish } from '../events.js';
import { EVENT_STREAM, LAST_EVENT_ID, mediaType } from '../protocol/headers.js';
import { parseMessages } from '../protocol/jsonrpc.js';
import { createSseReader } from '../protocol/sse.js';
import {
  createListeningStream,
  type ListenAnswer,
  type ListeningStream,
} from '../session/outbound/listening-stream.js';
import { describe, garbage, type Parts } from './parts.js';
import { sendForSession } from './session-http.js';

/** `ping` asks the server whether the session lives. */
export function createListener(parts: Parts, ping: () => Promise<void>): ListeningStream {
  const { context, scope } = parts;
  const { settings } = context;
  let stopListening: (() => void) | undefined;

  const listen = async (lastEventId: string | undefined, signal: AbortSignal): Promise<ListenAnswer> => {
    const generation = parts.handle.current;
    if (generation === undefined) throw new Error('no session to listen to');
    const { status, response, retryAfterMs } = await sendForSession(context, generation.opened, {
      method: 'GET',
      accept: EVENT_STREAM,
      signal,
      lane: 'listen',
      background: true,
      ...(lastEventId === undefined ? {} : { extra: new Map([[LAST_EVENT_ID, lastEventId]]) }),
    });
    const isEventStream = mediaType(response.header('content-type')) === EVENT_STREAM;
    if (status >= 300 || !isEventStream) response.discard();
    return {
      status,
      isEventStream,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      async read({ onEvent, onId, onRetry }) {
        const reader = createSseReader({
          onEvent({ event, data }) {
            onEvent();
            if (event !== 'message') return;
            const messages = parseMessages(data);
            if (messages === undefined) parts.onError(garbage(parts, data));
            for (const message of messages ?? []) {
              parts.inbox.take(message, { generation: generation.number });
            }
          },
          onId,
          onRetry,
        });
        for await (const chunk of response.chunks()) reader.push(chunk);
      },
    };
  };

  return createListeningStream({
    clock: context.clock,
    mode: settings.listen,
    get streamIdleMs() {
      return settings.streamIdleMs;
    },
    memory: context.memory,
    connect: ({ lastEventId, signal }) => listen(lastEventId, signal),
    async confirm() {
      await ping();
      return true;
    },
    isHeard: parts.isHeard,
    isHostAsked: () => parts.inbox.unanswered > 0,
    onOpen() {
      stopListening = context.lists.listening();
      const generation = parts.handle.current;
      if (generation !== undefined) publish('streamOpened', describe(parts, generation));
    },
    onClose(reason, durationMs) {
      stopListening?.();
      stopListening = undefined;
      publish('streamClosed', { server: context.name, scope, reason, durationMs });
    },
  });
}
