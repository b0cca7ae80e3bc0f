/**
 * Opens generations: one turn of the limiter each, Retry-After obeyed, no id ever lost.
 * Owns: attempts under way, also those whose caller has gone: what they bring is ended.
 * (An answer that is lost on the way takes its id with it; nobody can end that one.)
 * Refuses: to abort an `initialize` that was sent, since the server may already have made the session.
 */
import type { Clock } from '../../clock.js';
import { MooringError } from '../../errors.js';
import type { Opened } from './generation.js';
import type { OpenLimiter, Turn } from './open-limiter.js';
import { linkedController, settledWithin } from '../waiting.js';

/** How one `initialize` went. */
export type OpenOutcome<O extends Opened> =
  | { opened: O; left?: O[] }
  | {
      error: Error;
      /** Sessions that the server issued an id for all the same: they must be ended. */
      left?: O[];
      /** The server's own word for when to come back, ms. */
      retryAfterMs?: number;
    };

export interface OpenerOptions<O extends Opened> {
  clock: Clock;
  limiter: OpenLimiter;
  /** Milliseconds that one open may take, waiting included. */
  openMs: number;
  /** Sends `initialize`; never rejects, never aborted once sent. `abandoned`: nobody waits for it any more. */
  send(number: number, abandoned: AbortSignal): Promise<OpenOutcome<O>>;
  /** Ends a session that nobody wants any more; never rejects. */
  endOrphan(opened: O, number: number): Promise<void>;
}

export interface Opener<O extends Opened> {
  /** Resolves with the number and what was opened; rejects with a MooringError or the signal's reason. */
  open(signal: AbortSignal): Promise<{ number: number; opened: O }>;
  /** Resolves when no `initialize` is under way, nor the ending of what one brought, or after `maxMs`. */
  quiet(maxMs: number): Promise<void>;
  readonly underWay: number;
}

/** Times that Retry-After of one open is obeyed. */
const MAX_TRIES = 4;

export function createOpener<O extends Opened>(options: OpenerOptions<O>): Opener<O> {
  // openMs is read when it is needed: a reload may change it.
  const { clock, limiter } = options;
  const underWay = new Set<Promise<unknown>>();
  let counter = 0;

  const tooSlow = (): MooringError =>
    new MooringError(
      'MOORING_OPEN_FAILED',
      `the server did not answer initialize within ${options.openMs} ms; check that it is up, or raise acquireMs`,
    );

  /** A turn of the limiter, within the deadline. */
  const enter = async (signal: AbortSignal, deadlineAt: number): Promise<Turn> => {
    const { controller, unlink } = linkedController(signal);
    const timer = clock.hold(deadlineAt - clock.now(), () => controller.abort(noTurn()));
    try {
      const turn = await limiter.enter(controller.signal);
      if (!controller.signal.aborted) return turn;
      turn.cancelled();
      throw controller.signal.reason as Error;
    } finally {
      timer.cancel();
      unlink();
    }
  };

  const noTurn = (): MooringError =>
    new MooringError(
      'MOORING_OPEN_FAILED',
      `opens of this server are held back, and it was not this one's turn within ${options.openMs} ms: ` +
        'it asked to be left alone (Retry-After), or sessions are opened faster than they can be ended',
    );

  const attempt = async (signal: AbortSignal, deadlineAt: number): Promise<Attempted<O>> => {
    const turn = await enter(signal, deadlineAt);
    const number = ++counter;
    let taken = false;
    const abandoned = new AbortController();
    const sent = options.send(number, abandoned.signal).then((outcome) => {
      if ('opened' in outcome) turn.opened();
      else turn.failed(outcome.retryAfterMs);
      return outcome;
    });
    const waited = new Promise<OpenOutcome<O>>((resolve, reject) => {
      const onAbort = (): void => {
        if (giveUp(signal.reason as Error)) turn.cancelled();
      };
      const timer = clock.hold(deadlineAt - clock.now(), () => {
        // A server that hangs must not keep the others from their turn, but they may take it easy.
        if (giveUp(tooSlow())) turn.failed();
      });
      let over = false;
      const stopWaiting = (): boolean => {
        if (over) return false;
        over = true;
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
        return true;
      };
      const giveUp = (reason: Error): boolean => {
        if (!stopWaiting()) return false;
        abandoned.abort(reason);
        reject(reason);
        return true;
      };
      signal.addEventListener('abort', onAbort, { once: true });
      void sent.then((outcome) => {
        taken = stopWaiting();
        if (taken) resolve(outcome);
      });
    });
    // Registered after the waiter's own reaction: by now it is known whether anybody took the session.
    const settled = sent.then((outcome) => {
      const untaken = 'opened' in outcome && !taken ? [outcome.opened] : [];
      const left = [...(outcome.left ?? []), ...untaken].filter(({ id }) => id !== undefined);
      return Promise.all(left.map((opened) => options.endOrphan(opened, number)));
    });
    underWay.add(settled);
    void settled.finally(() => underWay.delete(settled));
    const outcome = await waited;
    return { number, outcome };
  };

  return {
    async open(signal) {
      const deadlineAt = clock.now() + options.openMs;
      for (let tries = 1; ; tries += 1) {
        const { number, outcome } = await attempt(signal, deadlineAt);
        if ('opened' in outcome) return { number, opened: outcome.opened };
        const { error, retryAfterMs } = outcome;
        const tooLate = retryAfterMs === undefined || clock.now() + retryAfterMs >= deadlineAt;
        if (tooLate || tries >= MAX_TRIES) throw error;
      }
    },
    quiet: (maxMs) => settledWithin(clock, Promise.all(underWay), maxMs),
    get underWay() {
      return underWay.size;
    },
  };
}

interface Attempted<O extends Opened> {
  number: number;
  outcome: OpenOutcome<O>;
}
