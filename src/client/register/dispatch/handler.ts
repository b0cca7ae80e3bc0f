/**
 * The two shapes of what undici calls back: up to major 6 with raw headers, from 7 on with a controller.
 * Owns: the parts of both that are used. Refuses: upgrades; MCP has none.
 */

/** What undici is asked for. */
export interface DispatchOptions {
  origin?: string | URL | undefined;
  path?: string | undefined;
  method?: unknown;
  headers?: unknown;
  body?: unknown;
}

/** What undici hands to callbacks of the newer shape. */
export interface DispatchController {
  readonly aborted: boolean;
  readonly paused: boolean;
  readonly reason: unknown;
  /** As they came; undici 8 reads these rather than the parsed ones. */
  readonly rawHeaders: Buffer[];
  readonly rawTrailers: Buffer[];
  pause(): void;
  resume(): void;
  abort(reason?: unknown): void;
}

/** Callbacks of both shapes; a handler has one of the two. */
export interface DispatchHandler {
  onConnect?(abort: (reason?: unknown) => void, context?: unknown): void;
  onHeaders?(
    status: number,
    rawHeaders: Buffer[],
    resume: () => void,
    statusText: string,
  ): boolean | undefined;
  onData?(chunk: Buffer): boolean | undefined;
  onComplete?(rawTrailers: Buffer[]): void;
  onError?(error: unknown): void;
  onResponseStarted?(): void;
  onRequestStart?(controller: DispatchController, context: unknown): void;
  onResponseStart?(
    controller: DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
    statusText: string,
  ): void;
  onResponseData?(controller: DispatchController, chunk: Buffer): void;
  onResponseEnd?(controller: DispatchController, trailers: Record<string, string>): void;
  onResponseError?(controller: DispatchController, error: unknown): void;
}

/** `dispatcher.dispatch`, bound. */
export type Dispatch = (options: DispatchOptions, handler: DispatchHandler) => boolean;
