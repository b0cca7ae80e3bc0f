/** Waiting that can be given up: the thing waited for goes on for whoever else waits. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.js';

/** The promise, or the signal's reason when that comes first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) {
      onAbort();
      promise.catch(() => {});
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Resolves when the promise has settled, either way, or after `maxMs`; holds the process until then. */
export function settledWithin(clock: Clock, promise: Promise<unknown>, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.hold(maxMs, resolve);
    const done = (): void => {
      timer.cancel();
      resolve();
    };
    promise.then(done, done);
  });
}

/** A controller that lives long, and that as many listen to as there are requests: that is no leak. */
export function sharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * A controller that is aborted with the first of several signals, and lets go of them afterwards.
 * In place of AbortSignal.any: long-lived signals keep what is derived from them (report R101).
 */
export function linkedController(...signals: Array<AbortSignal | undefined>): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  const links: Array<() => void> = [];
  for (const signal of signals) {
    if (signal === undefined) continue;
    const onAbort = (): void => controller.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    links.push(() => signal.removeEventListener('abort', onAbort));
  }
  return { controller, unlink: () => links.forEach((unlink) => unlink()) };
}

/** The same with a deadline: aborted with what `late()` gives after `ms`. `unlink` cancels that, too. */
export function deadlineController(
  clock: Clock,
  ms: number,
  late: () => Error,
  ...signals: Array<AbortSignal | undefined>
): { controller: AbortController; unlink: () => void } {
  const { controller, unlink } = linkedController(...signals);
  const timer = clock.hold(ms, () => controller.abort(late()));
  return {
    controller,
    unlink() {
      timer.cancel();
      unlink();
    },
  };
}
