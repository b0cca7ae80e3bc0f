/**
 * The official SDKs, v1 and v2, as far as Mooring touches them: structural types, no import.
 * Messages are `any` here on purpose: each SDK has its own type for the same JSON.
 */

/** What both SDKs accept as a `Transport`. */
export interface SdkTransport {
  start(): Promise<void>;
  // oxlint-disable-next-line typescript/no-explicit-any -- v1's and v2's message types differ in name only
  send(message: any, options?: any): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  /** The first id that the server issued; it does not change when the session is re-opened. */
  readonly sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
  /** A 2026-07-28 request is cancelled by closing its stream. */
  readonly hasPerRequestStream?: boolean;
}

/** A `Client` of either SDK. */
export interface SdkClient {
  // oxlint-disable-next-line typescript/no-explicit-any -- each SDK wants its own Transport type, and gets ours
  connect(transport: any, options?: any): Promise<void>;
  close(): Promise<void>;
}

/** What a `send` of either SDK may bring along. */
export interface SdkSendOptions {
  resumptionToken?: string | undefined;
  onresumptiontoken?: ((token: string) => void) | undefined;
  /** v2: aborted when this one request is given up. */
  requestSignal?: AbortSignal | undefined;
  /** v2: the stream of this request ended without a response. */
  onRequestStreamEnd?: (() => void) | undefined;
  /** v2: headers for this request alone. */
  headers?: Readonly<Record<string, string>> | undefined;
}
