/**
 * Sends DELETEs: never two at once for one id, none after a confirmed one, retries in the background.
 * Owns: every id that must be ended and is not confirmed yet, until the process ends.
 * Refuses: to throw into the caller's path; an unconfirmed DELETE is an event and a retry (rule "Ending").
 */
import type { Clock, Timer } from '../../clock.js';
import { meaningOfDelete } from '../../protocol/meaning.js';
import { createBackoff } from '../backoff.js';
import { settledWithin } from '../waiting.js';

export interface DeleteReply {
  status: number;
  retryAfterMs?: number;
}

/** One session to end. */
export interface EndTarget {
  id: string;
  /**
   * Sends one DELETE, credentials fetched under the same signal; refreshes them once on 401 by itself.
   * Rejects when there was no answer.
   */
  send(signal: AbortSignal): Promise<DeleteReply>;
  onConfirmed(status: number, durationMs: number): void;
  /** `isGivenUp`: no try is left. */
  onNotConfirmed(status: number | undefined, durationMs: number, isGivenUp: boolean): void;
}

export interface Terminator {
  /**
   * Resolves when the DELETE is confirmed (true) or `deadlineMs` has passed or the try failed (false);
   * never rejects. A second call for the same id shares the first one's try. With `retries: 0` one try is all.
   */
  end(target: EndTarget, deadlineMs: number, options?: { retries?: number }): Promise<boolean>;
  /** The server issued this id, anew perhaps: what was known of an older session of that name is no more. */
  issued(id: string): void;
  /** Ids with an unconfirmed DELETE. */
  readonly unconfirmed: number;
  /** Cancels the timers of background retries; the ids stay unconfirmed. */
  stop(): void;
}

/** Tries after the first one. */
const RETRIES = 3;
const RETRY_BASE_MS = 1_000;
const RETRY_CAP_MS = 60_000;
/** Each background try gets this long; nobody waits for it. */
const RETRY_DEADLINE_MS = 10_000;
/** Confirmed ids are remembered so that none is sent twice; more than this many are not needed at once. */
const REMEMBERED = 4_096;

interface Entry {
  target: EndTarget;
  running: Promise<boolean> | undefined;
  retriesLeft: number;
  timer: Timer | undefined;
}

export function createTerminator({ clock, random }: { clock: Clock; random?: () => number }): Terminator {
  const open = new Map<string, Entry>();
  const confirmed = new Set<string>();
  let stopped = false;

  const confirm = (id: string): void => {
    open.delete(id);
    confirmed.add(id);
    if (confirmed.size > REMEMBERED) {
      const [oldest] = confirmed;
      if (oldest !== undefined) confirmed.delete(oldest);
    }
  };

  const retryLater = (entry: Entry, hintMs: number | undefined): void => {
    if (stopped || entry.retriesLeft <= 0) return;
    const backoff = createBackoff({
      baseMs: RETRY_BASE_MS * 2 ** (RETRIES - entry.retriesLeft),
      capMs: RETRY_CAP_MS,
      ...(random ? { random } : {}),
    });
    entry.retriesLeft -= 1;
    entry.timer = clock.after(Math.max(backoff.next(), hintMs ?? 0), () => {
      entry.timer = undefined;
      if (!stopped) void attempt(entry, RETRY_DEADLINE_MS);
    });
  };

  const attempt = (entry: Entry, deadlineMs: number): Promise<boolean> => {
    const { target } = entry;
    const startedAt = clock.now();
    entry.timer?.cancel();
    entry.timer = undefined;
    const controller = new AbortController();
    const running = new Promise<boolean>((resolve) => {
      const settle = (status: number | undefined, hintMs?: number): void => {
        // The deadline and the answer race; whoever comes second finds the try settled.
        if (entry.running !== running) return;
        deadline.cancel();
        entry.running = undefined;
        const durationMs = clock.now() - startedAt;
        if (status !== undefined && meaningOfDelete(status) === 'confirmed') {
          // Issued anew in the meantime: that one is another session, and not ended.
          if (open.get(target.id) === entry) confirm(target.id);
          target.onConfirmed(status, durationMs);
          resolve(true);
          return;
        }
        const isCurrent = open.get(target.id) === entry;
        target.onNotConfirmed(status, durationMs, isCurrent && entry.retriesLeft <= 0);
        if (isCurrent && entry.retriesLeft <= 0) open.delete(target.id);
        if (isCurrent) retryLater(entry, hintMs);
        resolve(false);
      };
      const deadline = clock.after(deadlineMs, () => {
        settle(undefined);
        controller.abort(new DOMException('the DELETE had its deadline', 'TimeoutError'));
      });
      // The port may throw before it returns a promise; both count as no answer.
      queueMicrotask(() => {
        Promise.resolve()
          .then(() => target.send(controller.signal))
          .then(
            (reply) => settle(reply.status, reply.retryAfterMs),
            () => settle(undefined),
          );
      });
    });
    entry.running = running;
    return running;
  };

  return {
    async end(target, deadlineMs, { retries = RETRIES } = {}) {
      if (confirmed.has(target.id)) return true;
      let entry = open.get(target.id);
      if (entry === undefined) {
        entry = { target, running: undefined, retriesLeft: retries, timer: undefined };
        open.set(target.id, entry);
      }
      // Who joins a try of somebody else keeps its own deadline, and its own wish for retries.
      entry.retriesLeft = Math.max(entry.retriesLeft, entry.running === undefined ? 0 : retries);
      if (entry.running === undefined) return attempt(entry, deadlineMs);
      await settledWithin(clock, entry.running, deadlineMs);
      return confirmed.has(target.id);
    },
    issued(id) {
      confirmed.delete(id);
      open.get(id)?.timer?.cancel();
      open.delete(id);
    },
    get unconfirmed() {
      return open.size;
    },
    stop() {
      stopped = true;
      for (const entry of open.values()) entry.timer?.cancel();
    },
  };
}
