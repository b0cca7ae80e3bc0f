/**
 * What one exchange is asked to do, and whom it tells.
 */
import type { Message } from '../protocol/jsonrpc.js';
import type { Reply } from './session-http.js';
import type { Lane, WireResponse } from './wire.js';

export interface ExchangeOptions {
  message: Message;
  /** Headers that the SDK asks for on this request alone. */
  headers?: ReadonlyMap<string, string>;
  signal: AbortSignal;
  /** Aborted when close begins: what runs may end, nothing is tried again or resumed. */
  closing: AbortSignal;
  /** A message of the answer; the response itself comes last. */
  onMessage(message: Message): void;
  /** Response headers are there, before any of the body is read (below 400). */
  onHeaders?(reply: Reply): void;
  /** How long a server that cannot be reached is tried, ms. @default acquireMs */
  insistMs?: number;
  /** False: 429 and 503 are the caller's to deal with. @default true */
  obeysRetryAfter?: boolean;
  /** Nothing is sent once this is aborted. */
  notAfter?: AbortSignal;
  /** Nobody waits once this is aborted. */
  abandoned?: AbortSignal;
  /** Each response before its body, also one that is followed by another try. */
  onResponse?(response: WireResponse): void;
  /** A stream without an end has a connection of its own. @default 'call' */
  lane?: Lane;
  onEventId?(id: string): void;
  onGarbage?(what: string): void;
  /** Resume this stream instead of sending the message. */
  resumeFrom?: string;
  /** The response will come another way (on the listening stream): resolves when it has. */
  elsewhere(): Promise<void>;
  /** It has come another way already. */
  isAnswered?(): boolean;
}
