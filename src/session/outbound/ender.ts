/**
 * Ends the sessions of one handle through the terminator, and knows which endings are still under way.
 * Refuses: to end what has no id; there is nothing to tell the server.
 */
import type { Clock } from '../../clock.js';
import type { EndReason } from '../../events.js';
import type { Opened } from './generation.js';
import type { OpenLimiter } from './open-limiter.js';
import type { DeleteReply, Terminator } from './terminator.js';
import { settledWithin } from '../waiting.js';

export interface EnderPorts<O extends Opened> {
  /** Sends one DELETE. */
  sendDelete(opened: O, signal: AbortSignal): Promise<DeleteReply>;
  onDeleted(opened: O, number: number, reason: EndReason, status: number, durationMs: number): void;
  onNotConfirmed(
    opened: O,
    number: number,
    reason: EndReason,
    status: number | undefined,
    ms: number,
    isGivenUp: boolean,
  ): void;
}

export interface Ender<O extends Opened> {
  /** Resolves when confirmed, or tried in vain within `deadlineMs`; never rejects. */
  end(opened: O, number: number, reason: EndReason, deadlineMs: number): Promise<void>;
  /** The same for one that nobody waited for any more. */
  endOrphan(opened: O, number: number, reason: EndReason, deadlineMs: number): Promise<void>;
  /** The same without retries, for one that the server disowned: it may well be gone already. */
  endDisowned(opened: O, number: number, reason: EndReason, deadlineMs: number): Promise<void>;
  /** Resolves when no ending is under way, or after `maxMs`. */
  quiet(maxMs: number): Promise<void>;
}

export function createEnder<O extends Opened>(
  ports: EnderPorts<O>,
  { clock, limiter, terminator }: { clock: Clock; limiter: OpenLimiter; terminator: Terminator },
): Ender<O> {
  const underWay = new Set<Promise<unknown>>();

  const end = async (
    opened: O,
    number: number,
    reason: EndReason,
    deadlineMs: number,
    { isCounted, insists }: { isCounted: boolean; insists: boolean },
  ): Promise<void> => {
    if (opened.id === undefined) {
      if (isCounted) limiter.ended();
      return;
    }
    const ending = terminator.end(
      {
        id: opened.id,
        send: (signal) => ports.sendDelete(opened, signal),
        onConfirmed: (status, ms) => {
          if (isCounted) limiter.ended();
          ports.onDeleted(opened, number, reason, status, ms);
        },
        onNotConfirmed: (status, ms, isGivenUp) =>
          ports.onNotConfirmed(opened, number, reason, status, ms, isGivenUp),
      },
      deadlineMs,
      insists ? {} : { retries: 0 },
    );
    underWay.add(ending);
    await ending;
    underWay.delete(ending);
  };

  return {
    end: (opened, number, reason, deadlineMs) =>
      end(opened, number, reason, deadlineMs, { isCounted: true, insists: true }),
    // Nobody took it, so nobody counted it as open.
    endOrphan: (opened, number, reason, deadlineMs) =>
      end(opened, number, reason, deadlineMs, { isCounted: false, insists: true }),
    // It was counted as ended when the server refused it.
    endDisowned: (opened, number, reason, deadlineMs) =>
      end(opened, number, reason, deadlineMs, { isCounted: false, insists: false }),
    quiet: (maxMs) => settledWithin(clock, Promise.all(underWay), maxMs),
  };
}
