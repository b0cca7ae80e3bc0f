/**
 * A listening stream with a clock and a server of the test's.
 * Owns: every GET it sends, in order, each answered when and how the test says.
 */
import type { Timer } from '../../../src/clock.js';
import {
  createListeningStream,
  type ListenAnswer,
  type ListeningStream,
  type ListenMode,
} from '../../../src/session/outbound/listening-stream.js';
import { createServerMemory, type ServerMemory } from '../../../src/session/outbound/server-memory.js';
import { settle } from '../../support/fake-context.js';
import { type ManualClock, manualClock } from '../../support/manual-clock.js';

/** One GET; what the server sends on it is up to the test. */
export interface Get {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
  /** No answer yet, and still wanted. */
  readonly isWaiting: boolean;
  /** `deaf`: it comes through although nobody wants it any more. */
  answer(
    answer: { status: number; isEventStream?: boolean; retryAfterMs?: number },
    how?: { deaf: boolean },
  ): void;
  fail(): void;
  event(): void;
  id(id: string): void;
  retry(ms: number): void;
  /** The stream ends cleanly. */
  end(): void;
  cut(): void;
}

export interface Listening {
  readonly clock: ManualClock;
  readonly memory: ServerMemory;
  readonly stream: ListeningStream;
  /** May be changed on the way. */
  readonly options: { streamIdleMs: number; isHostAsked: boolean };
  readonly gets: Get[];
  /** The latest GET. */
  readonly last: Get;
  /** `open`, and `REASON DURATION` for each end. */
  readonly events: string[];
  /** Times that the session was asked whether it lives. */
  readonly confirms: number;
  /** Timers that were cancelled after they had fired. */
  readonly cancelled: number[];
  /** Answers the latest question whether the session lives. */
  confirm(answer: boolean | Error): void;
  /** Answers the latest GET with a stream. */
  open(): Promise<Get>;
  /** Moves the clock to the next GET; how long that took, ms. */
  untilNextGet(): Promise<number>;
  /** A session is there. */
  bound(): Promise<Listening>;
  /** A session is there, and it works. */
  working(): Promise<Listening>;
}

export function listening({
  mode = 'active' as ListenMode,
  streamIdleMs = 10_000,
  random = (): number => 0.5,
} = {}): Listening {
  const clock = manualClock();
  const memory = createServerMemory(clock);
  const gets: Get[] = [];
  const events: string[] = [];
  const cancelled: number[] = [];
  const questions: Array<(answer: boolean | Error) => void> = [];
  const options = { streamIdleMs, isHostAsked: false };
  /** When timers that wait are due; no two of one moment, in these tests. */
  const due = new Set<number>();

  const stream = createListeningStream({
    clock: {
      now: clock.now,
      hold: clock.hold,
      after(ms, fn): Timer {
        const dueAt = clock.now() + ms;
        due.add(dueAt);
        const timer = clock.after(ms, () => {
          due.delete(dueAt);
          fn();
        });
        return {
          cancel() {
            if (!due.delete(dueAt)) cancelled.push(ms);
            timer.cancel();
          },
        };
      },
    },
    mode,
    get streamIdleMs() {
      return options.streamIdleMs;
    },
    memory,
    random,
    connect: ({ lastEventId, signal }) =>
      new Promise<ListenAnswer>((resolve, reject) => {
        gets.push(createGet(lastEventId, signal, resolve, reject));
      }),
    confirm: () =>
      new Promise((resolve, reject) => {
        questions.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      }),
    isHostAsked: () => options.isHostAsked,
    onOpen: () => events.push('open'),
    onClose: (reason, durationMs) => events.push(`${reason} ${durationMs}`),
  });

  const self: Listening = {
    clock,
    memory,
    stream,
    options,
    gets,
    get last() {
      const get = gets.at(-1);
      if (get === undefined) throw new Error('no GET was sent');
      return get;
    },
    events,
    get confirms() {
      return questions.length;
    },
    cancelled,
    confirm: (answer) => questions.at(-1)?.(answer),
    async open() {
      self.last.answer({ status: 200, isEventStream: true });
      await settle();
      return self.last;
    },
    async untilNextGet() {
      const asked = gets.length;
      const from = clock.now();
      while (gets.length === asked && clock.now() < from + 3_600_000) {
        await clock.advanceStepwise(Math.min(...due, from + 3_600_000) - clock.now());
      }
      return clock.now() - from;
    },
    async bound() {
      stream.bind();
      await settle();
      return self;
    },
    async working() {
      await self.bound();
      stream.workBegan();
      await settle();
      return self;
    },
  };
  return self;
}

function createGet(
  lastEventId: string | undefined,
  signal: AbortSignal,
  resolve: (answer: ListenAnswer) => void,
  reject: (error: Error) => void,
): Get {
  let handlers: Parameters<ListenAnswer['read']>[0] | undefined;
  let over: ((error?: Error) => void) | undefined;
  let isWaiting = true;
  signal.addEventListener('abort', () => {
    isWaiting = false;
    over?.(signal.reason as Error);
  });
  return {
    lastEventId,
    signal,
    get isWaiting() {
      return isWaiting;
    },
    answer({ status, isEventStream = status === 200, retryAfterMs }, { deaf } = { deaf: false }) {
      if (!isWaiting && !deaf) throw new Error('nobody waits for an answer to this GET');
      isWaiting = false;
      resolve({
        status,
        isEventStream,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        read: (given) =>
          new Promise<void>((ended, wasCut) => {
            handlers = given;
            over = (error) => (error === undefined ? ended() : wasCut(error));
          }),
      });
    },
    fail() {
      isWaiting = false;
      reject(new Error('ECONNREFUSED'));
    },
    event: () => handlers?.onEvent(),
    id: (id) => handlers?.onId(id),
    retry: (ms) => handlers?.onRetry(ms),
    end: () => over?.(),
    cut: () => over?.(new Error('socket hang up')),
  };
}
