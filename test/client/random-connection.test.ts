import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Connection, createConnection } from '../../src/client/connection.js';
import type { Listen } from '../../src/client/options.js';
import { isMooringError } from '../../src/errors.js';
import type { Message } from '../../src/protocol/jsonrpc.js';
import { verifies } from '../requirements.js';
import { fakeContext, settle } from '../support/fake-context.js';
import { type FakeServer, fakeServer, type Outcome } from '../support/fake-server.js';
import { type ManualClock, manualClock } from '../support/manual-clock.js';

/** One step of a random life. */
type Step =
  | { do: 'call' }
  | { do: 'forget'; status: 404 | 400 }
  | { do: 'serve'; at: number; outcome: Outcome }
  | { do: 'advance'; ms: number }
  | { do: 'sleep' }
  | { do: 'cancel'; at: number }
  | { do: 'close'; drainMs: number };

const outcome = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Outcome>('answer') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Outcome>('lost-before', 'lost-after', 'unreachable', 'error', 'busy'),
  },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Step>({ do: 'call' }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('serve' as const), at: fc.nat(5), outcome }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('forget' as const),
      status: fc.constantFrom(404 as const, 400 as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(100, 1_000, 5_000, 61_000, 700_000),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'sleep' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), at: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('close' as const), drainMs: fc.constantFrom(0, 5_000) }),
  },
);

const kind = fc.record({ listen: fc.constantFrom<Listen>('off', 'active', 'always'), streams: fc.boolean() });

interface Call {
  id: number;
  key: string;
  /** Responses that the host got for it. */
  responses: Message[];
  outcome: 'pending' | 'resolved' | 'rejected';
  cancelled: boolean;
  error: unknown;
}

/** One connection that lives through the steps, and what its host saw. */
class Life {
  readonly clock: ManualClock = manualClock();
  readonly server: FakeServer = fakeServer();
  readonly calls: Call[] = [];
  readonly connection: Connection;
  closing: Promise<void> | undefined;
  /** Times that an `initialize` may be needed: the first, and one for each session or open that came to nothing. */
  opensAllowed = 1;
  /** Requests by kind at the moment when close began. */
  atClose: Map<string, number> | undefined;

  constructor({ listen, streams }: { listen: Listen; streams: boolean }) {
    this.server.streams = streams;
    const context = fakeContext(this.clock, this.server.wire, { listen, deleteMs: 2_000 });
    this.connection = createConnection(context, {
      scope: 'random',
      toHost: (message) => {
        const call = this.calls.find(({ id }) => id === message.id);
        if (call !== undefined) call.responses.push(message);
      },
      onError: () => {},
    });
    const initialize: Message = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'random', version: '0' },
      },
    };
    this.connection.send(initialize).catch(() => {});
  }

  async take(next: Step): Promise<void> {
    switch (next.do) {
      case 'call': {
        const id = this.calls.length + 1;
        const call: Call = {
          id,
          key: `k${id}`,
          responses: [],
          outcome: 'pending',
          cancelled: false,
          error: undefined,
        };
        this.calls.push(call);
        this.connection
          .send({
            jsonrpc: '2.0',
            id,
            method: 'tools/call',
            params: { name: 'count', arguments: { key: call.key } },
          })
          .then(
            () => (call.outcome = 'resolved'),
            (error: unknown) => {
              call.outcome = 'rejected';
              call.error = error;
            },
          );
        break;
      }
      case 'forget':
        if (this.server.alive.size > 0) this.opensAllowed += 1;
        this.server.forget(next.status);
        break;
      case 'serve': {
        const request = this.server.pending[next.at];
        // A session is given up when its `initialize`, or what makes it ready, comes to nothing.
        if (next.outcome !== 'answer' && request !== undefined && /initialize/.test(request.method))
          this.opensAllowed += 1;
        request?.settle(next.outcome);
        break;
      }
      case 'advance':
        // Long enough for an open to be given up, and for a session to become idle.
        if (next.ms >= 30_000) this.opensAllowed += 2;
        await this.clock.advanceStepwise(next.ms);
        break;
      case 'sleep':
        if (this.connection.handle.phase === 'live') this.opensAllowed += 1;
        void this.connection.handle.sleep('idle');
        break;
      case 'cancel': {
        const call = this.calls[next.at];
        if (call === undefined) break;
        call.cancelled = true;
        const params = { requestId: call.id };
        this.connection.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
        break;
      }
      case 'close':
        this.atClose ??= new Map(this.server.counts);
        this.closing ??= this.connection.close('closed', { drainMs: next.drainMs });
        break;
      default:
    }
    await settle();
  }

  /** From here on the server answers everything; everything comes to its end. */
  async end(): Promise<void> {
    await this.take({ do: 'close', drainMs: 5_000 });
    for (let round = 0; round < 60; round += 1) {
      while (this.server.pending.length > 0) {
        this.server.pending[0]?.settle('answer');
        await settle();
      }
      await this.clock.advanceStepwise(5_000);
    }
    await this.closing;
  }
}

describe('random lives of a connection', () => {
  it('keep every promise, whatever the server does', async () => {
    verifies('property/outbound');
    await fc.assert(
      fc.asyncProperty(
        kind,
        fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }),
        async (how, steps) => {
          const life = new Life(how);
          await settle();
          for (const next of steps) await life.take(next);
          await life.end();
          const { server, calls, atClose } = life;

          assert.deepEqual(server.violations, []);
          for (const [sid, account] of server.accounts) {
            if (account.unknowable) continue;
            assert.ok(account.deletesConfirmed <= 1, `${sid}: confirmed ${account.deletesConfirmed} times`);
            // Ended by us, known to be gone, or every try was made.
            const ended = account.deletesConfirmed === 1 || account.refused || account.deletesTried >= 4;
            const forgottenUnseen = account.forgotten && !server.alive.has(sid);
            assert.ok(ended || forgottenUnseen, `${sid}: nobody ended it (${JSON.stringify(account)})`);
          }

          // Nothing opens, resumes or retries after close began.
          assert.equal(server.counts.get('initialize') ?? 0, atClose?.get('initialize') ?? 0);
          assert.equal(server.counts.get('GET') ?? 0, atClose?.get('GET') ?? 0);

          const opens = server.counts.get('initialize') ?? 0;
          assert.ok(opens <= life.opensAllowed, `${opens} opens, ${life.opensAllowed} had a reason`);

          for (const call of calls) {
            const runs = server.runs.get(call.key) ?? 0;
            assert.ok(runs <= 1, `${call.key} ran ${runs} times`);
            assert.notEqual(call.outcome, 'pending', `${call.key} was never settled`);
            assert.ok(call.responses.length <= 1, `${call.key} was answered twice`);
            for (const { result } of call.responses) {
              assert.equal((result as { key: string }).key, call.key, "another call's response");
              assert.equal(runs, 1);
            }
            if (call.outcome === 'resolved' && !call.cancelled) assert.equal(call.responses.length, 1);
            if (call.outcome === 'rejected') {
              assert.ok(isMooringError(call.error), String(call.error));
              assert.equal(call.responses.length, 0, 'rejected, and answered as well');
            }
          }
          assert.equal(life.connection.handle.phase, 'ended');
          assert.equal(server.openStreams, 0);
          assert.equal(life.clock.pending, 0, 'a timer was left behind');
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 300), includeErrorInReport: true },
    );
  });
});
