/**
 * Paces `initialize` towards one server: few at once, slower when opens outpace ends, Retry-After obeyed.
 * Owns: the turn of each open, the debt of sessions opened and not known to have ended.
 * Refuses: nobody for good; it only makes opens wait, within the deadline that the caller brings (report R031).
 */
import type { Clock, Timer } from '../../clock.js';
import { createBackoff } from '../backoff.js';

/** Why opens are held back. */
type Reason = 'outpaced' | 'retry-after' | 'failing';

export interface OpenLimiterOptions {
  clock: Clock;
  /** Sessions that may be open without anything being wrong; read anew each time. */
  readonly allowance: number;
  /** Told when an open has to wait, with the time in ms and the reason. */
  onBackedOff: (waitMs: number, reason: Reason) => void;
  random?: () => number;
}

export interface OpenLimiter {
  /** Waits for a turn. Rejects with the signal's reason. Every turn must be given back, once. */
  enter(signal: AbortSignal): Promise<Turn>;
  /** A session of this server ended: confirmed by DELETE, or refused as unknown. */
  ended(): void;
  /** Opens of this server that wait for their turn. */
  readonly waiting: number;
  /** Nothing to remember: no debt, nobody running or waiting, nothing held back. */
  readonly isIdle: boolean;
}

export interface Turn {
  /** The open succeeded. */
  opened(): void;
  /** The open failed; `retryAfterMs` is the server's own word for when to come back. */
  failed(retryAfterMs?: number): void;
  /** Given up before it was sent: nothing is counted. */
  cancelled(): void;
}

/** Opens under way at once. */
const CONCURRENT = 4;
const BASE_MS = 500;
const CAP_MS = 60_000;
const FAILING_CAP_MS = 5_000;
/** Debt is forgotten after this long: the server's own idle timeout has most likely ended what we could not. */
const FORGET_MS = 10 * 60_000;

export function createOpenLimiter(options: OpenLimiterOptions): OpenLimiter {
  const { clock, onBackedOff } = options;
  const queue: Array<() => void> = [];
  /** Times of opens that no end has paid for yet, oldest first. */
  const debts: number[] = [];
  const backoff = createBackoff({
    baseMs: BASE_MS,
    capMs: CAP_MS,
    ...(options.random ? { random: options.random } : {}),
  });
  /** A server that is down costs its callers a little patience, not their whole deadline. */
  const failing = createBackoff({
    baseMs: BASE_MS,
    capMs: FAILING_CAP_MS,
    ...(options.random ? { random: options.random } : {}),
  });
  let running = 0;
  /** Held back by the server's own word or by its failing, and by us. */
  let serverUntil = 0;
  let outpacedUntil = 0;
  let wake: Timer | undefined;
  let failures = 0;

  const debt = (): number => {
    while (debts.length > 0 && (debts[0] as number) < clock.now() - FORGET_MS) debts.shift();
    return debts.length;
  };

  const notBefore = (): number => Math.max(serverUntil, outpacedUntil);

  const isOutpaced = (): boolean => debt() > options.allowance;

  const pump = (): void => {
    const wait = notBefore() - clock.now();
    if (wait > 0) {
      wake ??= clock.after(wait, () => {
        wake = undefined;
        pump();
      });
      return;
    }
    while (running < CONCURRENT && queue.length > 0 && notBefore() <= clock.now()) {
      running += 1;
      queue.shift()?.();
    }
  };

  const holdBack = (ms: number, reason: Reason): void => {
    if (reason === 'outpaced') outpacedUntil = clock.now() + ms;
    else serverUntil = Math.max(serverUntil, clock.now() + ms);
    onBackedOff(ms, reason);
  };

  const giveBack = (): Turn => {
    let over = false;
    const once = (fn: () => void) => (): void => {
      if (over) return;
      over = true;
      running -= 1;
      fn();
      pump();
    };
    return {
      opened: once(() => {
        failures = 0;
        failing.reset();
        debts.push(clock.now());
        if (isOutpaced()) holdBack(backoff.next(), 'outpaced');
        else backoff.reset();
      }),
      failed: (retryAfterMs) =>
        once(() => {
          failures += 1;
          if (retryAfterMs !== undefined) holdBack(retryAfterMs, 'retry-after');
          else if (failures > 1) holdBack(failing.next(), 'failing');
        })(),
      cancelled: once(() => {}),
    };
  };

  return {
    async enter(signal) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const onAbort = (): void => {
          const at = queue.indexOf(go);
          if (at >= 0) queue.splice(at, 1);
          reject(signal.reason as Error);
        };
        const go = (): void => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.push(go);
        pump();
      });
      return giveBack();
    },
    ended() {
      debts.shift();
      if (isOutpaced()) return;
      backoff.reset();
      // Ends have caught up: nobody has to wait for what is over. The server's own word stays.
      if (outpacedUntil <= clock.now()) return;
      outpacedUntil = 0;
      wake?.cancel();
      wake = undefined;
      pump();
    },
    get waiting() {
      return queue.length;
    },
    get isIdle() {
      return (
        debt() === 0 && failures === 0 && running === 0 && queue.length === 0 && notBefore() <= clock.now()
      );
    },
  };
}
