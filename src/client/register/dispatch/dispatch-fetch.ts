/**
 * As much of a `fetch` as a session needs, over a program's own dispatcher: its proxy, its certificates.
 * Owns: answering in both shapes of handler. Refuses: redirects and retries; the session decides about those.
 */
import type { FetchLike, FetchResponse } from '../../fetch-wire.js';
import type { Dispatch, DispatchController, DispatchHandler } from './handler.js';

export function createDispatchFetch(dispatch: Dispatch): FetchLike {
  return (url, { method, headers, body, signal }) =>
    new Promise<FetchResponse>((resolve, reject) => {
      let abort = (_reason: unknown): void => {};
      let resume = (): void => {};
      let parts: ReadableStreamDefaultController<Uint8Array> | undefined;
      let isOver = false;
      const stream = new ReadableStream<Uint8Array>({
        start(controller) {
          parts = controller;
        },
        pull: () => resume(),
        cancel: (reason) => {
          isOver = true;
          abort(reason ?? new DOMException('the body was cancelled', 'AbortError'));
        },
      });

      const onAbort = (): void => {
        fail(signal.reason);
        abort(signal.reason);
      };
      const finish = (settle: () => void): void => {
        signal.removeEventListener('abort', onAbort);
        if (isOver) return;
        isOver = true;
        settle();
      };
      const fail = (error: unknown): void => {
        reject(error as Error);
        finish(() => parts?.error(error));
      };
      const began = (give: (reason: unknown) => void): void => {
        abort = give;
        if (signal.aborted) give(signal.reason);
      };
      const head = (status: number, answered: Headers): void => {
        if (status >= 200) resolve({ status, headers: answered, body: stream });
      };
      /** False: enough for now. */
      const data = (chunk: Uint8Array): boolean => {
        if (isOver) return true;
        // undici may use its buffer again.
        parts?.enqueue(new Uint8Array(chunk));
        return (parts?.desiredSize ?? 1) > 0;
      };
      const end = (): void => finish(() => parts?.close());

      const handler: DispatchHandler & { onUpgrade(): void } = {
        onConnect: began,
        onHeaders(status, raw, again) {
          resume = again;
          head(status, fromRaw(raw));
          return true;
        },
        onData: data,
        onComplete: end,
        onError: fail,
        onUpgrade() {},
        onRequestStart: (controller) => began((reason) => controller.abort(reason)),
        onResponseStart(controller, status, parsed) {
          resume = () => controller.resume();
          head(status, fromParsed(parsed));
        },
        onResponseData(controller: DispatchController, chunk) {
          if (!data(chunk)) controller.pause();
        },
        onResponseEnd: end,
        onResponseError: (_controller, error) => fail(error),
      };
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        dispatch(
          { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body: body ?? null },
          handler,
        );
      } catch (error) {
        fail(error);
      }
    });
}

function fromRaw(raw: readonly Buffer[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < raw.length; at += 2)
    append(headers, String(raw[at]), raw[at + 1]?.toString('latin1') ?? '');
  return headers;
}

function fromParsed(parsed: Record<string, string | string[]>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(parsed)) {
    for (const one of Array.isArray(value) ? value : [value]) append(headers, name, one);
  }
  return headers;
}

function append(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    // What no header can carry is of no use to a session either.
  }
}
