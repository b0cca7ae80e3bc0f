/**
 * The one set of hooks on the end of the process, however many sessions, and copies of this package, there are.
 * Owns: signals that nobody else handles, `beforeExit`, `exit`; the only state that is the process's, not an instance's.
 * Refuses: a signal that the host listens to, uncaught errors (Node keeps its stack and exit code), growing
 * listener counts (reports R010, R013).
 */
import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { deleteBlocking, type ExitTarget } from './exit-sender.js';

/** Something that has sessions to give back when the process ends. Its shape is shared between versions. */
export interface Releasable {
  /** Ends everything now: nothing in flight is waited for. Never rejects. */
  release(deadlineMs: number): Promise<void>;
  /** Ends what is held, but goes on if there is more work after all. Never rejects. */
  rest(): Promise<void>;
  /** What is left for the `exit` event. */
  exitTargets(): OwedTarget[];
}

export interface OwedTarget extends ExitTarget {
  /** Milliseconds that the `exit` event may take for it. */
  exitMs: number;
  /** Told the HTTP status of its DELETE, -1 for none. */
  onStatus(status: number): void;
}

/** Two copies of the package must not take each other's listeners for the host's: the first one's hooks serve both. */
const SHARED = Symbol.for('mooring.process-hooks.v1');

interface Hooks {
  add(releasable: Releasable): () => void;
}

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const SIGNALS: readonly Signal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** All sessions together, on a signal. */
const RELEASE_MS = 2_000;
/**
 * How long we are out of the way of a host that handles a signal itself, ms: there are some that ask, after cleaning
 * up for 5 s, whether they are the only listener, and stay for ever if they are not (@openai/agents).
 */
const ASIDE_MS = 10_000;
/** PID 1 has no default action for signals: it ends by itself when the signal has not ended it by then, ms. */
const PID_1_MS = 50;

/** Adds to the hooks; the result takes it off again. */
export function hookProcess(releasable: Releasable): () => void {
  const shared = globalThis as { [SHARED]?: Hooks };
  shared[SHARED] ??= createHooks();
  return shared[SHARED].add(releasable);
}

function createHooks(): Hooks {
  const registered = new Set<Releasable>();
  const listeners = new Map<Signal, () => void>();
  const aside = new Map<Signal, NodeJS.Timeout>();
  let releasing = false;
  let resting = false;

  const targets = (): OwedTarget[] => [...registered].flatMap((releasable) => releasable.exitTargets());

  const deleteLeft = (maxMs: number): void => {
    const left = targets();
    if (left.length === 0) return;
    const statuses = deleteBlocking(left, Math.min(maxMs, Math.max(...left.map(({ exitMs }) => exitMs))));
    statuses.forEach((status, at) => left[at]?.onStatus(status));
  };

  const raise = (signal: Signal): void => {
    uninstall();
    registered.clear();
    process.kill(process.pid, signal);
    if (process.pid === 1) setTimeout(() => process.exit(128 + constants.signals[signal]), PID_1_MS);
  };

  const releaseAll = async (signal: Signal): Promise<void> => {
    const startedAt = performance.now();
    const left = (): number => RELEASE_MS - (performance.now() - startedAt);
    // This timer keeps the process, so that it ends by the signal and not by having nothing to do.
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, RELEASE_MS);
    });
    await Promise.race([
      Promise.all([...registered].map((releasable) => releasable.release(left()))),
      deadline,
    ]);
    clearTimeout(timer);
    // What was being tried again in the background has no later any more.
    deleteLeft(left());
    raise(signal);
  };

  /** The signal is the host's, and whoever counts listeners must not count ours. */
  const stepAside = (signal: Signal): void => {
    const listener = listeners.get(signal);
    if (listener === undefined) return;
    process.off(signal, listener);
    const timer = setTimeout(() => {
      aside.delete(signal);
      process.prependListener(signal, listener);
    }, ASIDE_MS);
    aside.set(signal, timer.unref());
  };

  const onSignal = (signal: Signal): void => {
    const others = process.listenerCount(signal) - 1 - countSignalExit();
    if (others > 0) {
      stepAside(signal);
      return;
    }
    // A second signal while we are at it: the user means it.
    if (releasing) {
      raise(signal);
      return;
    }
    releasing = true;
    void releaseAll(signal);
  };

  const onBeforeExit = (): void => {
    if (resting) return;
    resting = true;
    void Promise.all([...registered].map((releasable) => releasable.rest())).finally(() => {
      resting = false;
    });
  };

  const onExit = (): void => deleteLeft(Number.POSITIVE_INFINITY);

  const install = (): void => {
    process.on('beforeExit', onBeforeExit);
    process.on('exit', onExit);
    if (!isMainThread) return;
    for (const signal of SIGNALS) {
      const listener = (): void => onSignal(signal);
      listeners.set(signal, listener);
      // First in line: a listener that the host added with once() has not left the list yet.
      process.prependListener(signal, listener);
    }
  };

  const uninstall = (): void => {
    process.off('beforeExit', onBeforeExit);
    process.off('exit', onExit);
    for (const [signal, listener] of listeners) process.off(signal, listener);
    listeners.clear();
    for (const timer of aside.values()) clearTimeout(timer);
    aside.clear();
  };

  return {
    add(releasable) {
      if (registered.size === 0) install();
      registered.add(releasable);
      return () => {
        if (registered.delete(releasable) && registered.size === 0) uninstall();
      };
    },
  };
}

/** signal-exit re-raises by itself, but only when no other listener is left. */
function countSignalExit(): number {
  const v4 = (globalThis as Record<symbol, { count?: unknown } | undefined>)[
    Symbol.for('signal-exit emitter')
  ];
  const v3 = (process as { __signal_exit_emitter__?: { count?: unknown } }).__signal_exit_emitter__;
  return [v4, v3].reduce((sum, emitter) => sum + (typeof emitter?.count === 'number' ? emitter.count : 0), 0);
}
