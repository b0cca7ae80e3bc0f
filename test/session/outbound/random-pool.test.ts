import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isMooringError } from '../../../src/errors.js';
import { createPool, type Entry } from '../../../src/session/outbound/pool.js';
import { verifies } from '../../requirements.js';
import { settle } from '../../support/fake-context.js';
import { manualClock } from '../../support/manual-clock.js';

type Step =
  | { do: 'acquire'; scope: number }
  | { do: 'release' | 'abort' | 'open' | 'fail-open' | 'gone'; at: number }
  | { do: 'end'; scope: number }
  | { do: 'cap'; maxSessions: number }
  | { do: 'advance'; ms: number }
  | { do: 'close' };

const at = fc.nat(9);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('acquire' as const), scope: fc.nat(7) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('release' as const), at }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('open' as const), at }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('gone' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('abort' as const, 'fail-open' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), scope: fc.nat(7) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('cap' as const), maxSessions: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(10, 1_000, 29_000, 31_000),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'close' }) },
);

interface Resource {
  scope: string;
  leasesSeen: number;
}

/** A pool whose opens and ends settle when a step says so. */
class World {
  readonly clock = manualClock();
  readonly opening: Array<{ resource: Resource; resolve(r: Resource): void; reject(e: Error): void }> = [];
  readonly retiring: Array<{ resource: Resource; resolve(): void }> = [];
  readonly leases: Array<Entry<Resource>> = [];
  readonly aborts: AbortController[] = [];
  readonly order: { asked: number[]; served: number[] } = { asked: [], served: [] };
  /** Sessions that exist in any state. */
  existing = 0;
  peakOverCap = 0;
  cap = 3;
  waiting = 0;
  outcomes: unknown[] = [];
  closing: Promise<void> | undefined;
  evictedWhileLeased = 0;
  readonly pool = createPool<Resource>({
    clock: this.clock,
    server: 'w',
    maxSessions: 3,
    acquireMs: 30_000,
    isShareable: () => true,
    open: (scope, { up }) => {
      this.existing += 1;
      this.peakOverCap = Math.max(this.peakOverCap, this.existing - this.cap);
      const resource = { scope, leasesSeen: 0 };
      return new Promise<Resource>((resolve, reject) => {
        const entry = {
          resource,
          resolve,
          reject: (error: Error) => {
            this.existing -= 1;
            reject(error);
          },
        };
        this.opening.push(entry);
        up.addEventListener('abort', () => {
          const index = this.opening.indexOf(entry);
          if (index < 0) return;
          this.opening.splice(index, 1);
          entry.reject(new Error('given up'));
        });
      });
    },
    retire: (resource, reason) => {
      if (reason === 'evicted' && this.leases.some((entry) => entry.resource === resource)) {
        this.evictedWhileLeased += 1;
      }
      return new Promise<void>((resolve) => {
        this.retiring.push({
          resource,
          resolve: () => {
            this.existing -= 1;
            resolve();
          },
        });
      });
    },
  });

  async take(next: Step): Promise<void> {
    switch (next.do) {
      case 'acquire': {
        const abort = new AbortController();
        this.aborts.push(abort);
        this.waiting += 1;
        this.pool.acquire(`scope-${next.scope}`, abort.signal).then(
          (entry) => {
            this.waiting -= 1;
            assert.equal(entry.scope, `scope-${next.scope}`);
            this.leases.push(entry);
          },
          (error: unknown) => {
            this.waiting -= 1;
            this.outcomes.push(error);
          },
        );
        break;
      }
      case 'release': {
        const [entry] = this.leases.splice(next.at % Math.max(1, this.leases.length), 1);
        if (entry !== undefined) this.pool.release(entry);
        break;
      }
      case 'abort':
        this.aborts[next.at]?.abort(new Error('given up by the caller'));
        break;
      case 'open': {
        const [entry] = this.opening.splice(next.at % Math.max(1, this.opening.length), 1);
        entry?.resolve(entry.resource);
        break;
      }
      case 'fail-open': {
        const [entry] = this.opening.splice(next.at % Math.max(1, this.opening.length), 1);
        entry?.reject(new Error('down'));
        break;
      }
      case 'gone': {
        const [entry] = this.retiring.splice(next.at % Math.max(1, this.retiring.length), 1);
        entry?.resolve();
        break;
      }
      case 'end':
        void this.pool.end(`scope-${next.scope}`, 'scope-ended');
        break;
      case 'cap':
        // Sessions that are there already stay; only what is opened from now on is held against the new cap.
        this.cap = Math.max(next.maxSessions, this.existing);
        this.pool.setBounds({ maxSessions: next.maxSessions, acquireMs: 30_000 });
        this.cap = Math.max(next.maxSessions, this.existing);
        break;
      case 'advance':
        await this.clock.advanceStepwise(next.ms);
        break;
      case 'close':
        this.closing ??= this.pool.close('closed');
        break;
      default:
    }
    await settle();
  }

  async end(): Promise<void> {
    this.closing ??= this.pool.close('closed');
    for (let round = 0; round < 50; round += 1) {
      await this.take({ do: 'open', at: 0 });
      await this.take({ do: 'release', at: 0 });
      await this.take({ do: 'gone', at: 0 });
    }
    await this.clock.advanceStepwise(31_000);
    await this.closing;
  }
}

describe('random lives of a pool', () => {
  it('never exceed the cap, never end a lease for a waiter, and leave nothing behind', async () => {
    verifies('property/pool');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), async (steps) => {
        const world = new World();
        for (const next of steps) await world.take(next);
        await world.end();
        assert.ok(world.peakOverCap <= 0, `${world.peakOverCap} over the cap`);
        assert.equal(world.evictedWhileLeased, 0);
        assert.equal(world.waiting, 0, 'somebody waits for ever');
        assert.equal(world.existing, 0);
        assert.deepEqual(world.pool.counts(), { opening: 0, live: 0, retiring: 0, leased: 0, waiting: 0 });
        assert.equal(world.clock.pending, 0);
        for (const error of world.outcomes) {
          const known = isMooringError(error) || /down|given up/.test(String(error));
          assert.ok(known, String(error));
        }
      }),
      { numRuns: Number(process.env.RUNS ?? 300), includeErrorInReport: true },
    );
  });

  it('serve waiters in the order in which they came', async () => {
    verifies('bounds/first-come-first-served');
    const world = new World();
    const served: number[] = [];
    const hold = await Promise.all(
      [0, 1, 2].map(async (scope) => {
        const lease = world.pool.acquire(`held-${scope}`);
        await settle();
        world.opening.splice(0).forEach((entry) => entry.resolve(entry.resource));
        return lease;
      }),
    );
    const waiters = Array.from({ length: 20 }, (_, n) =>
      world.pool.acquire(`waiter-${n}`).then((entry) => {
        served.push(n);
        world.pool.release(entry);
      }),
    );
    for (const entry of hold) world.pool.release(entry);
    for (let round = 0; round < 100; round += 1) {
      await settle();
      world.retiring.splice(0).forEach((entry) => entry.resolve());
      world.opening.splice(0).forEach((entry) => entry.resolve(entry.resource));
    }
    await Promise.all(waiters);
    assert.deepEqual(
      served,
      Array.from({ length: 20 }, (_, n) => n),
    );
  });
});
