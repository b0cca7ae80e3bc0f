/**
 * What the handle needs of the world, done over HTTP and told to whoever listens.
 * Owns: opening, restoring and deleting one session; who owes which id a DELETE; events and counters.
 * Refuses: to decide when; the handle does.
 */
import { isMooringError, MooringError } from '../errors.js';
import { publish } from '../events.js';
import { meaningOfDelete } from '../protocol/meaning.js';
import type { Message } from '../protocol/jsonrpc.js';
import type { Generation } from '../session/outbound/generation.js';
import type { HandlePorts } from '../session/outbound/handle.js';
import type { OpenOutcome } from '../session/outbound/opener.js';
import { deadlineController } from '../session/waiting.js';
import { exchange } from './exchange.js';
import { unanswered } from './failures.js';
import { type OpenedSession, openSession } from './opened-session.js';
import { describe, type Parts } from './parts.js';
import type { OwedTarget } from './process-hooks.js';
import { ledgerPrincipal, reclaimLater } from './reclaim.js';
import { type SessionIdentity, sendForSession, setCookies } from './session-http.js';

/** How long the very first open insists on a server that cannot be reached, ms. */
const FIRST_CONNECT_MS = 5_000;

export function createSessionPorts(parts: Parts, onIdle: () => void): HandlePorts<OpenedSession> {
  const { context } = parts;
  const { settings, memory, ledger, owed, tally, terminator } = context;

  /** The DELETE that the end of the process sends, with what is known by then. */
  const exitTarget = (id: string, identity: SessionIdentity): OwedTarget => {
    const headers = new Map(identity.lastHeaders);
    headers.delete('content-type');
    setCookies(headers, identity);
    const { latest } = context;
    const isStale = [...latest.headers].some(([name, value]) => identity.credentials.get(name) !== value);
    return {
      url: (memory.location ?? settings.url).href,
      headers: Object.fromEntries(headers),
      ...(isStale ? { otherHeaders: Object.fromEntries([...headers, ...latest.headers]) } : {}),
      exitMs: settings.exitMs,
      onStatus(status) {
        const isConfirmed = status > 0 && meaningOfDelete(status) === 'confirmed';
        if (isConfirmed) ledger.settled(settings.url.href, id);
        publish(isConfirmed ? 'terminated' : 'notConfirmed', {
          server: context.name,
          scope: parts.scope,
          session: context.fingerprint(id),
          reason: 'exit',
          ...(status > 0 ? { status } : {}),
        });
      },
    };
  };

  /** From here on somebody owes this id a DELETE. */
  const owe = (id: string, identity: SessionIdentity): void => {
    terminator.issued(id);
    owed.add(settings.url.href, id, () => exitTarget(id, identity));
    const principal = ledgerPrincipal(context, identity.credentials);
    ledger.opened({ url: settings.url.href, id, principal });
  };

  const settle = (id: string | undefined): void => {
    if (id === undefined) return;
    // In this order: the last one owed makes the ledger let go of what is left in it.
    ledger.settled(settings.url.href, id);
    owed.settle(settings.url.href, id);
  };

  const sendToNew = async (
    generation: Generation<OpenedSession>,
    message: Message,
    signal: AbortSignal,
  ): Promise<void> => {
    const ms = settings.acquireMs;
    const late = (): Error => unanswered(context, message, ms);
    const { controller, unlink } = deadlineController(context.clock, ms, late, signal);
    const result = await exchange(context, generation.opened, {
      message,
      signal: controller.signal,
      closing: signal,
      onMessage: () => {},
      elsewhere: () => Promise.resolve(),
    }).finally(unlink);
    if (!('refused' in result)) return;
    throw new MooringError(
      'MOORING_SESSION_LOST',
      `${context.name} refused the new session at once (HTTP ${result.refused}); ` +
        'check that requests of one session reach one replica',
      { server: context.name, generation: generation.number, httpStatus: result.refused },
    );
  };

  return {
    async open(number, closing, abandoned) {
      const asked = parts.initialize();
      if (asked === undefined) throw new MooringError('MOORING_BAD_REQUEST', 'send initialize first');
      const message = number === 1 ? asked : { ...asked, id: parts.nextId() };
      const open = (): Promise<OpenOutcome<OpenedSession>> =>
        openSession(context, message, {
          closing,
          abandoned,
          // A host that starts wants to hear soon that nobody is there; a call in mid-life can wait.
          insistMs: number === 1 ? Math.min(FIRST_CONNECT_MS, settings.acquireMs) : settings.acquireMs,
          onId: owe,
          onOther: (other) => parts.inbox.take(other, { generation: number }),
        });
      const wasRedirected = memory.location !== undefined;
      const outcome = await open();
      if (!wasRedirected || closing.aborted || !leadsNowhere(outcome)) return outcome;
      // The redirect that was followed once: the configured URL may know better by now.
      memory.location = undefined;
      return open();
    },
    async restore(generation, signal) {
      await sendToNew(generation, { jsonrpc: '2.0', method: 'notifications/initialized' }, signal);
      for (const request of parts.restore.requests()) {
        const message: Message = { jsonrpc: '2.0', id: parts.nextId(), ...request };
        await sendToNew(generation, message, signal).catch((error: Error) => parts.onError(error));
      }
    },
    async sendDelete(opened, signal) {
      const reply = await sendForSession(context, opened, {
        method: 'DELETE',
        accept: '*/*',
        signal,
        background: true,
      });
      reply.response.discard();
      const { status, retryAfterMs } = reply;
      return retryAfterMs === undefined ? { status } : { status, retryAfterMs };
    },
    onOpened(generation, kind) {
      parts.onOpened(generation.opened.credentials);
      reclaimLater(context, generation.opened);
      tally[kind === 'first' ? 'opened' : 'reopened'] += 1;
      publish(kind === 'first' ? 'opened' : 'reopened', describe(parts, generation));
      if (kind === 'first') return;
      bindStream(parts, generation);
      // The server may have changed while nobody listened; whoever keeps lists asks again.
      context.lists.unheard();
    },
    onRetired(generation, reason) {
      const { version } = generation.opened;
      publish('retired', {
        ...describe(parts, generation),
        reason,
        origin: settings.url.origin,
        durationMs: context.clock.now() - generation.bornAt,
        ...(version === undefined ? {} : { protocolVersion: version }),
      });
      parts.listening.unbind(reason);
      // Nothing that was to come on its listening stream will come any more.
      parts.inbox.abandon(generation.number);
      // The server itself said that it does not know it: there is nothing left to end.
      if (generation.refusedWith === 404) settle(generation.opened.id);
    },
    onClosing() {
      parts.listening.seal();
      parts.onClosing();
    },
    onForgotten: (generation) => parts.inbox.forget(generation.number),
    onDeleted(opened, number, reason, status, durationMs) {
      tally.deleted += 1;
      parts.onDeleteAnswered(status);
      settle(opened.id);
      publish('terminated', { ...describe(parts, { number, opened }), reason, status, durationMs });
    },
    onNotConfirmed(opened, number, reason, status, durationMs, isGivenUp) {
      tally.notConfirmed += 1;
      parts.onDeleteAnswered(status);
      // Every try was made: what is left is for the ledger and the server's own clock.
      if (isGivenUp && opened.id !== undefined) owed.settle(settings.url.href, opened.id);
      publish('notConfirmed', {
        ...describe(parts, { number, opened }),
        reason,
        durationMs,
        ...(status === undefined ? {} : { status }),
      });
    },
    onIdle() {
      // Subscribed and always listening: the host wants to hear, even if it does not ask.
      if (settings.listen === 'always' && parts.restore.hasSubscriptions) return;
      onIdle();
    },
  };
}

/** Nobody is there, or nobody who speaks MCP: asking elsewhere makes no second session. */
function leadsNowhere(outcome: OpenOutcome<OpenedSession>): boolean {
  if (!('error' in outcome) || outcome.left !== undefined || !isMooringError(outcome.error)) return false;
  const { isUnsent, httpStatus = 0 } = outcome.error.facts;
  return isUnsent === true || [404, 405, 410].includes(httpStatus);
}

/** A session is ready from now on; only one with an id can be listened to. */
export function bindStream({ listening }: Parts, generation: Generation<OpenedSession>): void {
  if (generation.opened.id === undefined) listening.unbind('no-session');
  else listening.bind();
}
