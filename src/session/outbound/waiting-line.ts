/**
 * Those who wait for a place: first come, first served, each until its signal or its deadline.
 * Refuses: to keep anyone whose signal was aborted; to run somebody's open in another one's async context.
 */
import { AsyncResource } from 'node:async_hooks';

export interface Waiter<S> {
  readonly scope: string;
  /** Makes the place in the context of the one who waits, not of whoever made room. */
  make(): S;
  serve(place: S): void;
  fail(error: Error): void;
}

export interface WaitingLine<S> {
  /** Waits for a place. `onJoined` gets what a deadline calls. */
  join(
    request: { scope: string; signal: AbortSignal | undefined; make: () => S },
    onJoined: (waiter: Waiter<S>) => void,
  ): Promise<S>;
  /** Who is next. */
  head(): Waiter<S> | undefined;
  /** Takes the head off, to be served. */
  shift(): void;
  /** Fails everybody, or everybody of one scope. */
  fail(error: (scope: string) => Error, scope?: string): void;
  readonly length: number;
  /** Different scopes that are waited for: several who wait for one need one place. */
  readonly scopes: number;
}

export function createWaitingLine<S>(): WaitingLine<S> {
  const line: Array<Waiter<S>> = [];
  return {
    join: ({ scope, signal, make }, onJoined) =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = line.indexOf(waiter);
          if (at >= 0) line.splice(at, 1);
          signal?.removeEventListener('abort', onAbort);
        };
        const onAbort = (): void => waiter.fail(signal?.reason as Error);
        const waiter: Waiter<S> = {
          scope,
          make: AsyncResource.bind(make),
          serve(place) {
            leave();
            resolve(place);
          },
          fail(error) {
            leave();
            reject(error);
          },
        };
        line.push(waiter);
        signal?.addEventListener('abort', onAbort, { once: true });
        onJoined(waiter);
      }),
    head: () => line[0],
    shift: () => void line.shift(),
    fail(error, scope) {
      for (const waiter of [...line]) {
        if (scope === undefined || waiter.scope === scope) waiter.fail(error(waiter.scope));
      }
    },
    get length() {
      return line.length;
    },
    get scopes() {
      return new Set(line.map(({ scope }) => scope)).size;
    },
  };
}
