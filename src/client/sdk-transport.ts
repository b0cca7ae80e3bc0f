/**
 * A connection in the shape that SDK v1 and v2 accept as a Transport.
 * Owns: the callbacks of that contract, `start` once, `onclose` once.
 * Refuses: SDK headers that would override the session's.
 */
import { isMooringError, MooringError } from '../errors.js';
import type { EndReason } from '../events.js';
import { toHeaderMap } from '../protocol/headers.js';
import type { Message } from '../protocol/jsonrpc.js';
import type { Connection } from './connection.js';
import type { SendOptions } from './outgoing.js';
import type { SdkSendOptions, SdkTransport } from './sdk-shapes.js';

/** Headers that a single request may not set. */
const RESERVED = new Set([
  'authorization',
  'content-type',
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
]);

export interface TransportParts {
  transport: SdkTransport;
  toHost(message: Message): void;
  onError(error: Error): void;
}

/** `connection` is asked for late: it needs the transport's callbacks first. */
export function createSdkTransport(
  connection: () => Connection,
  close: (reason: EndReason) => Promise<void>,
  isEnding: () => boolean,
): TransportParts {
  let started = false;
  let closing: Promise<void> | undefined;

  const transport: SdkTransport = {
    hasPerRequestStream: true,
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
    async start() {
      if (started) {
        throw new MooringError(
          'MOORING_BAD_REQUEST',
          'this transport was started before; create one for each client',
        );
      }
      started = true;
    },
    async send(message: Message, options?: SdkSendOptions) {
      try {
        await connection().send(message, readSendOptions(options));
      } catch (error) {
        if (isEnding()) return neverSettles();
        if (options?.requestSignal?.aborted !== true && !isClosed(error)) transport.onerror?.(error as Error);
        throw error;
      }
    },
    close() {
      closing ??= close('closed').finally(() => transport.onclose?.());
      return closing;
    },
    get sessionId() {
      return connection().firstId;
    },
    setProtocolVersion(version) {
      connection().setVersion(version);
    },
  };

  return {
    transport,
    toHost(message) {
      try {
        transport.onmessage?.(message);
      } catch (error) {
        // A host's handler that throws is the host's fault, not the answer's.
        transport.onerror?.(error as Error);
      }
    },
    onError: (error) => transport.onerror?.(error),
  };
}

function readSendOptions(options: SdkSendOptions | undefined): SendOptions {
  if (options === undefined) return {};
  const { resumptionToken, onresumptiontoken, requestSignal, onRequestStreamEnd, headers } = options;
  const own = toHeaderMap(headers);
  for (const name of RESERVED) own.delete(name);
  return {
    headers: own,
    ...(requestSignal === undefined ? {} : { signal: requestSignal }),
    ...(resumptionToken === undefined ? {} : { resumptionToken }),
    ...(onresumptiontoken === undefined ? {} : { onEventId: onresumptiontoken }),
    ...(onRequestStreamEnd === undefined ? {} : { onStreamEnd: onRequestStreamEnd }),
  };
}

/**
 * A signal is ending the process. A rejection now would be one that no host expects, and would end the process by an
 * unhandled rejection instead of by the signal.
 */
export function neverSettles<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

function isClosed(error: unknown): boolean {
  return isMooringError(error) && error.code === 'MOORING_CLOSED';
}
