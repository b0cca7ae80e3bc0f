/**
 * What is told of the host's requests: that one began, and what came of it.
 * Owns: which answer belongs to which. Refuses: to cost anything while nobody listens; arguments, results, ids.
 */
import { isHeard, publish, type RequestEvent } from '../events.js';
import { idKey } from '../protocol/ids.js';
import { isRequest, isResponse, type Message } from '../protocol/jsonrpc.js';
import type { ServerContext } from './server-context.js';

export interface Operations {
  /** `version`: the negotiated one, asked for once the answer is there. */
  run(message: Message, version: () => string | undefined, send: () => Promise<void>): Promise<void>;
  /** A message goes to the host. */
  saw(message: Message): void;
}

export function createOperations({ clock, name, settings }: ServerContext, scope: string): Operations {
  const running = new Map<string, { error?: RequestEvent['error']; rpcCode?: number }>();

  return {
    async run(message, version, send) {
      if (!isRequest(message) || !(isHeard('requestStarted') || isHeard('requestAnswered'))) return send();
      const startedAt = clock.now();
      const target = message.params?.name;
      const about: RequestEvent = {
        server: name,
        origin: settings.url.origin,
        scope,
        request: Symbol(message.method),
        method: message.method,
        ...(typeof target === 'string' ? { target } : {}),
      };
      const seen: { error?: string; rpcCode?: number } = {};
      running.set(idKey(message.id), seen);
      publish('requestStarted', { ...about });
      try {
        await send();
      } catch (error) {
        const { code, name: kind } = error as { code?: unknown; name?: unknown };
        seen.error ??= typeof code === 'string' ? code : typeof kind === 'string' ? kind : 'Error';
        throw error;
      } finally {
        running.delete(idKey(message.id));
        const protocolVersion = version();
        publish('requestAnswered', {
          ...about,
          ...seen,
          ...(protocolVersion === undefined ? {} : { protocolVersion }),
          durationMs: clock.now() - startedAt,
        });
      }
    },
    saw(message) {
      if (running.size === 0 || !isResponse(message)) return;
      const seen = running.get(idKey(message.id));
      if (seen === undefined) return;
      if (message.error !== undefined) {
        const { code } = message.error;
        seen.error = String(code);
        seen.rpcCode = code;
      } else if ((message.result as { isError?: unknown } | undefined)?.isError === true) {
        // OpenTelemetry's name for a tool that answers that it failed.
        seen.error = 'tool_error';
      }
    },
  };
}
