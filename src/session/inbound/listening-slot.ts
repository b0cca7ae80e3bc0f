/**
 * The one listening stream of an inbound session, and who gets it.
 * Owns: the holder, the challenge (a `ping` on the holder's stream: answered in time, the newcomer is refused,
 * else it takes over), the rate of GETs.
 * Refuses: two holders, two challenges at once, and to let any of it touch the session (report R023). The verdict
 * is there before a header is written (report R022). Resumption of a call's stream never comes here.
 */
import type { Clock } from '../../clock.js';
import type { RequestId } from '../../protocol/jsonrpc.js';

/** How long the holder may take to answer the challenge, ms. */
const CHALLENGE_MS = 3_000;
/** Listening GETs of one session that are looked at in any 60 s; more are refused at once. */
const MAX_GETS_PER_MINUTE = 6;
const MINUTE_MS = 60_000;

/** The adapter's end of a listening GET. Both may be called before the headers are written. */
export interface ListeningStream {
  /** Writes a `ping` request with this id on the stream; false, or a throw, says that the stream is dead. */
  ping(id: string): boolean;
  /** Ends the response. */
  close(why: 'session-ended' | 'taken-over'): void;
}

/** Why a listening GET was refused. */
export type ListenRefusal = 'rate' | 'alive' | 'challenged' | 'session-ended' | 'aborted';

export type ListenVerdict =
  /** `closed` is to be called when the response has ended, for whatever reason. */
  { granted: true; closed: () => void } | { granted: false; why: ListenRefusal };

export interface ListeningSlot {
  /** Asks for the slot; `signal` says that the newcomer has gone, before the verdict or after. Never rejects. */
  claim(stream: ListeningStream, signal?: AbortSignal): Promise<ListenVerdict>;
  /** A response came from the client: true when it was the answer to the challenge. */
  answered(id: RequestId): boolean;
  readonly isOpen: boolean;
  /** Closes the stream and refuses all that come. */
  end(): void;
}

export interface ListeningSlotOptions {
  clock: Clock;
  onOpen: () => void;
  onClose: () => void;
  /** The adapter's `close` threw. */
  onError: (error: unknown) => void;
}

export function createListeningSlot(options: ListeningSlotOptions): ListeningSlot {
  const { clock, onOpen, onClose, onError } = options;
  let holder: { stream: ListeningStream } | undefined;
  let challenge: { id: string; settle: (refusal?: ListenRefusal) => void } | undefined;
  let isEnded = false;
  let counter = 0;
  // Those refused for the rate are not counted: a client that never stops asking still gets its six a minute.
  let recent: number[] = [];

  const isTooOften = (): boolean => {
    const now = clock.now();
    recent = recent.filter((at) => at > now - MINUTE_MS);
    if (recent.length >= MAX_GETS_PER_MINUTE) return true;
    recent.push(now);
    return false;
  };

  const vacate = (why: 'session-ended' | 'taken-over'): void => {
    const old = holder;
    if (old === undefined) return;
    holder = undefined;
    onClose();
    try {
      old.stream.close(why);
    } catch (error) {
      onError(error);
    }
  };

  const grant = (stream: ListeningStream, signal: AbortSignal | undefined): ListenVerdict => {
    vacate('taken-over');
    const mine = { stream };
    const closed = (): void => {
      signal?.removeEventListener('abort', closed);
      if (holder !== mine) return;
      holder = undefined;
      onClose();
      challenge?.settle();
    };
    holder = mine;
    signal?.addEventListener('abort', closed, { once: true });
    onOpen();
    return { granted: true, closed };
  };

  const challengeFor = (newcomer: ListeningStream, held: ListeningStream, signal?: AbortSignal) =>
    new Promise<ListenVerdict>((resolve) => {
      const settle = (refusal?: ListenRefusal): void => {
        if (challenge?.settle !== settle) return;
        challenge = undefined;
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        resolve(refusal === undefined ? grant(newcomer, signal) : { granted: false, why: refusal });
      };
      const onAbort = (): void => settle('aborted');
      const timer = clock.after(CHALLENGE_MS, () => settle());
      const id = `mooring-challenge-${++counter}`;
      challenge = { id, settle };
      signal?.addEventListener('abort', onAbort, { once: true });
      let isDead: boolean;
      try {
        isDead = !held.ping(id);
      } catch {
        isDead = true;
      }
      if (isDead) settle();
    });

  return {
    async claim(stream, signal) {
      if (isEnded) return { granted: false, why: 'session-ended' };
      if (signal?.aborted === true) return { granted: false, why: 'aborted' };
      if (isTooOften()) return { granted: false, why: 'rate' };
      if (holder === undefined) return grant(stream, signal);
      if (challenge !== undefined) return { granted: false, why: 'challenged' };
      return challengeFor(stream, holder.stream, signal);
    },
    answered(id) {
      if (challenge === undefined || challenge.id !== id) return false;
      challenge.settle('alive');
      return true;
    },
    get isOpen() {
      return holder !== undefined;
    },
    end() {
      isEnded = true;
      challenge?.settle('session-ended');
      vacate('session-ended');
    },
  };
}
