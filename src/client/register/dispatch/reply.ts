/**
 * A `Response` told to a dispatch handler, as if it had come off a socket.
 * Owns: both shapes of handler, back pressure, the abort from the handler's side, once and only one end.
 */
import type { DispatchController, DispatchHandler } from './handler.js';

export interface Reply {
  /** Aborted when the handler's owner gives the request up. */
  readonly signal: AbortSignal;
  /** Tells the whole response; resolves when it has ended, however. Never rejects. */
  tell(response: Response): Promise<void>;
  fail(error: unknown): void;
}

/** Begins at once: from here on the handler may abort. */
export function createReply(handler: DispatchHandler): Reply {
  const abort = new AbortController();
  const isNew = typeof handler.onRequestStart === 'function';
  let isPaused = false;
  let isOver = false;
  let resumed = (): void => {};
  const rawHeaders: Buffer[] = [];

  const controller: DispatchController = {
    get aborted() {
      return abort.signal.aborted;
    },
    get paused() {
      return isPaused;
    },
    get reason() {
      return abort.signal.aborted ? (abort.signal.reason as unknown) : null;
    },
    rawHeaders,
    rawTrailers: [],
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
      resumed();
    },
    abort(reason) {
      if (abort.signal.aborted || isOver) return;
      abort.abort(reason ?? new DOMException('the request was aborted', 'AbortError'));
      fail(abort.signal.reason);
    },
  };

  const fail = (error: unknown): void => {
    if (isOver) return;
    isOver = true;
    resumed();
    if (isNew) handler.onResponseError?.(controller, error);
    else handler.onError?.(error);
  };

  const head = (response: Response): void => {
    const headers: Record<string, string | string[]> = {};
    response.headers.forEach((value, name) => {
      if (name !== 'set-cookie') headers[name] = value;
      rawHeaders.push(Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1'));
    });
    const cookies = response.headers.getSetCookie();
    if (cookies.length > 0) headers['set-cookie'] = cookies;
    handler.onResponseStarted?.();
    const { status, statusText } = response;
    if (isNew) handler.onResponseStart?.(controller, status, headers, statusText);
    else if (handler.onHeaders?.(status, rawHeaders, () => controller.resume(), statusText) === false)
      controller.pause();
  };

  const data = (chunk: Buffer): void => {
    if (isNew) handler.onResponseData?.(controller, chunk);
    else if (handler.onData?.(chunk) === false) controller.pause();
  };

  const untilResumed = (): Promise<void> =>
    new Promise((resolve) => {
      if (!isPaused || isOver) resolve();
      else resumed = resolve;
    });

  try {
    if (isNew) handler.onRequestStart?.(controller, {});
    else handler.onConnect?.((reason) => controller.abort(reason), {});
  } catch (error) {
    fail(error);
  }

  return {
    signal: abort.signal,
    async tell(response) {
      const reader = response.body?.getReader();
      try {
        if (!isOver) head(response);
        while (reader !== undefined && !isOver) {
          await untilResumed();
          const { done, value } = await reader.read();
          if (done) break;
          if (!isOver) data(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
        }
        if (isOver) return;
        isOver = true;
        if (isNew) handler.onResponseEnd?.(controller, {});
        else handler.onComplete?.([]);
      } catch (error) {
        fail(error);
      } finally {
        // Whoever gave it up lets go of the body as well.
        reader?.cancel().catch(() => {});
      }
    },
    fail,
  };
}
