/**
 * Who may hold a session of one server and principal: the cap, the line of waiters, leases, eviction.
 * Owns: entries by scope; first come, first served; the least recently used without a lease makes room.
 * Refuses: to end a leased entry for a waiter, to exceed the cap, to let anyone wait without a deadline.
 */
import type { Clock, Timer } from '../../clock.js';
import { MooringError } from '../../errors.js';
import type { EndReason } from '../../events.js';
import { untilAborted, sharedController } from '../waiting.js';
import { createWaitingLine } from './waiting-line.js';

export interface PoolOptions<R> {
  clock: Clock;
  /** How errors name the server. */
  server: string;
  /** Sessions at any moment, those being opened and retired included. */
  maxSessions: number;
  /** Milliseconds that an acquire may wait. */
  acquireMs: number;
  /** Opens the session of a scope; `up` is aborted when it is to be ended before it was open. */
  open(scope: string, given: { up: AbortSignal; reason(): EndReason }): Promise<R>;
  /** False: it is lent to those who wait for it, to nobody after them, and ended when they have given it back. */
  isShareable(resource: R): boolean;
  /** Ends it; resolves when it counts no more (DELETE settled or timed out). Never rejects. */
  retire(resource: R, reason: EndReason): Promise<void>;
  /** Nothing is open, and nobody waits. */
  onEmpty?(): void;
}

export interface Entry<R> {
  readonly scope: string;
  readonly resource: R;
}

export interface Pool<R> {
  /** Lends the session of a scope. Rejects with MOORING_POOL_EXHAUSTED, MOORING_CLOSED, or what `open` rejects with. */
  acquire(scope: string, signal?: AbortSignal): Promise<Entry<R>>;
  /** Gives one lease back. */
  release(entry: Entry<R>): void;
  /** Ends the session of a scope, leased or not. */
  end(scope: string, reason: EndReason): Promise<void>;
  /** Lends this very session to nobody any more, and ends it when it has been given back. */
  detach(entry: Entry<R>): void;
  /** Ends this very session, if it is still the one of its scope. */
  drop(entry: Entry<R>, reason: EndReason): Promise<void>;
  /** Ends all; nothing is lent any more. */
  close(reason: EndReason): Promise<void>;
  /** New bounds, without ending anything; a lower cap takes effect as sessions come back. */
  setBounds(bounds: { maxSessions: number; acquireMs: number }): void;
  isLeased(entry: Entry<R>): boolean;
  /** Everything that is open, also while it is being ended. */
  entries(): Array<Entry<R>>;
  counts(): { opening: number; live: number; retiring: number; leased: number; waiting: number };
}

/** How much longer a caller waits for the reason of an open that was too slow, ms. */
const GRACE_MS = 100;

interface Slot<R> {
  readonly scope: string;
  state: 'opening' | 'live' | 'retiring';
  leases: number;
  lastUsedAt: number;
  /** Taken off its scope: ended with its last lease. */
  isDetached: boolean;
  ready: Promise<R>;
  /** Aborted when the open is not wanted any more. */
  readonly given: AbortController;
  endReason: EndReason;
  entry: Entry<R> | undefined;
  gone: Promise<void> | undefined;
}

export function createPool<R>(options: PoolOptions<R>): Pool<R> {
  const { clock, server } = options;
  let { maxSessions, acquireMs } = options;
  const byScope = new Map<string, Slot<R>>();
  const all = new Set<Slot<R>>();
  const line = createWaitingLine<Slot<R>>();
  let closing = false;

  const closedError = (what: string): MooringError =>
    new MooringError('MOORING_CLOSED', `${what} was closed while waiting for a session with ${server}`, {
      server,
    });

  const holders = (): string[] =>
    [...all].filter((slot) => slot.leases > 0).map((slot) => `${server}/${slot.scope} (${slot.leases})`);

  const exhausted = (): MooringError => {
    const names = holders();
    const who = names.length > 0 ? names.slice(0, 20).join(', ') : 'sessions that are still being ended';
    return new MooringError(
      'MOORING_POOL_EXHAUSTED',
      `no session with ${server} became free within ${acquireMs} ms (maxSessions ${maxSessions}). ` +
        `Held by: ${who}. Release leases sooner, or raise maxSessions or acquireMs`,
      { server, holders: names },
    );
  };

  const slowOpen = (): MooringError =>
    new MooringError(
      'MOORING_OPEN_FAILED',
      `${server} did not open a session within ${acquireMs} ms; check that it is up, or raise acquireMs`,
      { server },
    );

  const remove = (slot: Slot<R>): void => {
    all.delete(slot);
    if (byScope.get(slot.scope) === slot) byScope.delete(slot.scope);
    pump();
    if (all.size === 0 && line.length === 0) options.onEmpty?.();
  };

  const retire = (slot: Slot<R>, reason: EndReason): Promise<void> => {
    if (slot.gone !== undefined) return slot.gone;
    slot.endReason = reason;
    if (slot.state === 'opening') slot.given.abort(closedError(`scope ${slot.scope}`));
    slot.state = 'retiring';
    if (byScope.get(slot.scope) === slot) byScope.delete(slot.scope);
    slot.gone = slot.ready
      .then(
        (resource) => options.retire(resource, reason),
        () => {},
      )
      .finally(() => remove(slot));
    return slot.gone;
  };

  const detach = (slot: Slot<R>): void => {
    slot.isDetached = true;
    if (byScope.get(slot.scope) === slot) byScope.delete(slot.scope);
    if (slot.leases === 0) void retire(slot, 'evicted');
  };

  const start = (scope: string): Slot<R> => {
    const given = sharedController();
    const slot: Slot<R> = {
      scope,
      given,
      endReason: 'closed',
      state: 'opening',
      leases: 0,
      lastUsedAt: clock.now(),
      isDetached: false,
      // Not before this function has returned: the slot must be in the table when `open` looks.
      ready: Promise.resolve().then(() =>
        options.open(scope, { up: given.signal, reason: () => slot.endReason }),
      ),
      entry: undefined,
      gone: undefined,
    };
    byScope.set(scope, slot);
    all.add(slot);
    slot.ready.then(
      (resource) => {
        slot.entry = Object.freeze({ scope, resource });
        if (slot.state === 'opening') slot.state = 'live';
        if (!options.isShareable(resource)) detach(slot);
        if (slot.leases === 0) pump();
      },
      () => {
        if (slot.gone === undefined) remove(slot);
      },
    );
    return slot;
  };

  const idleSlots = (): Array<Slot<R>> =>
    [...all]
      .filter((slot) => slot.state === 'live' && slot.leases === 0)
      .sort((a, b) => a.lastUsedAt - b.lastUsedAt);

  /** Serves the line from its head, and makes room for those who remain. */
  function pump(): void {
    for (let waiter = line.head(); waiter !== undefined; waiter = line.head()) {
      const existing = byScope.get(waiter.scope);
      if (existing === undefined && all.size >= maxSessions) break;
      line.shift();
      const slot = existing ?? waiter.make();
      slot.leases += 1;
      waiter.serve(slot);
    }
    const leaving = [...all].filter((slot) => slot.state === 'retiring').length;
    let wanted = line.scopes + all.size - maxSessions - leaving;
    for (const slot of idleSlots()) {
      if (wanted <= 0) break;
      wanted -= 1;
      void retire(slot, 'evicted');
    }
  }

  /** Who comes behind others in the line does not overtake them, unless the session is there already. */
  const take = (scope: string): Slot<R> | undefined => {
    const existing = byScope.get(scope);
    if (existing !== undefined) return existing;
    return line.length === 0 && all.size < maxSessions ? start(scope) : undefined;
  };

  const giveBack = (slot: Slot<R>): void => {
    slot.leases -= 1;
    slot.lastUsedAt = clock.now();
    if (slot.leases > 0) return;
    if (slot.isDetached) void retire(slot, 'evicted');
    else pump();
  };

  return {
    async acquire(scope, signal) {
      if (closing) throw closedError('the manager');
      signal?.throwIfAborted();
      let isLate = false;
      let onDeadline = (): void => {};
      let timer: Timer | undefined;
      let mine: Slot<R> | undefined;
      try {
        const expired = new Promise<never>((_, reject) => {
          timer = clock.hold(acquireMs, () => {
            isLate = true;
            onDeadline();
            // The open has a deadline of its own, about now, and knows better what went wrong.
            if (mine !== undefined) timer = clock.hold(GRACE_MS, () => reject(slowOpen()));
          });
        });
        expired.catch(() => {});
        mine = take(scope);
        if (mine !== undefined) mine.leases += 1;
        else {
          mine = await line.join({ scope, signal, make: () => start(scope) }, (waiter) => {
            onDeadline = () => waiter.fail(exhausted());
            pump();
          });
        }
        try {
          await untilAborted(Promise.race([mine.ready, expired]), signal);
        } catch (error) {
          giveBack(mine);
          // Nobody waits for it any more, and it had its time: the scope may begin anew.
          if (isLate && mine.state === 'opening' && mine.leases === 0) void retire(mine, 'error');
          throw error;
        }
        if (mine.state === 'retiring' || mine.entry === undefined) {
          giveBack(mine);
          throw closedError(`scope ${scope}`);
        }
        return mine.entry;
      } finally {
        timer?.cancel();
      }
    },
    release(entry) {
      for (const slot of all) if (slot.entry === entry) return giveBack(slot);
      return undefined;
    },
    async end(scope, reason) {
      line.fail((name) => closedError(`scope ${name}`), scope);
      await Promise.all([...all].filter((slot) => slot.scope === scope).map((slot) => retire(slot, reason)));
    },
    detach(entry) {
      for (const slot of all) if (slot.entry === entry) detach(slot);
    },
    async drop(entry, reason) {
      for (const slot of all) if (slot.entry === entry) await retire(slot, reason);
    },
    async close(reason) {
      closing = true;
      line.fail(() => closedError('the manager'));
      await Promise.all([...all].map((slot) => retire(slot, reason)));
    },
    setBounds(bounds) {
      ({ maxSessions, acquireMs } = bounds);
      pump();
    },
    isLeased: (entry) => [...all].some((slot) => slot.entry === entry && slot.leases > 0),
    entries: () => [...all].flatMap((slot) => (slot.entry === undefined ? [] : [slot.entry])),
    counts() {
      const counts = { opening: 0, live: 0, retiring: 0, leased: 0, waiting: line.length };
      for (const slot of all) {
        counts[slot.state] += 1;
        if (slot.leases > 0) counts.leased += 1;
      }
      return counts;
    },
  };
}
