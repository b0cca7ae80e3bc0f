/**
 * Finds servers whose only worker is held by our own listening stream: a POST that gets its headers only when the
 * stream is let go (the second report's worker pools).
 * Refuses: to call a POST starved while the server waits for the host's answer; to blame what other POSTs did.
 */
import type { Clock } from '../../clock.js';

export interface StarvationOptions {
  clock: Clock;
  /** A listening stream is open, or asked for. */
  isStreamHeld(): boolean;
  /** The server waits for the host to answer a request of its own. */
  isHostAsked(): boolean;
  /** A POST waits too long: let go of the stream, for at least `forMs`. */
  onStarved(forMs: number): void;
  /** It moved at once when the stream was gone. */
  onRelieved(): void;
}

/** One POST that waits for its headers. */
export interface PostWatch {
  answered(): void;
  gaveUp(): void;
}

/** A POST without headers for this long, while a stream is held, may be starved by it, ms. */
const STARVED_MS = 5_000;
/** Headers that come within this long after the stream was let go came because of that, ms. */
const RELIEF_MS = 5_000;

/** The result is called for each POST that is sent. */
export function createStarvationWatch(options: StarvationOptions): () => PostWatch {
  const { clock } = options;
  return () => {
    let isOver = false;
    let yieldedAt: number | undefined;
    const timer = clock.after(STARVED_MS, () => {
      if (isOver || !options.isStreamHeld() || options.isHostAsked()) return;
      yieldedAt = clock.now();
      options.onStarved(RELIEF_MS);
    });
    const over = (isAnswered: boolean): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      if (isAnswered && yieldedAt !== undefined && clock.now() - yieldedAt <= RELIEF_MS) options.onRelieved();
    };
    return { answered: () => over(true), gaveUp: () => over(false) };
  };
}
