/**
 * Ends what killed processes left at a server, once a session with it has been opened.
 * Owns: today's credentials for yesterday's sessions, a few DELETEs at a time, nobody waiting.
 * Refuses: credentials of anybody else than the session's own principal.
 */
import { publish } from '../events.js';
import { createCookieJar } from '../protocol/cookies.js';
import type { LedgerEntry } from '../session/outbound/ledger.js';
import type { OpenedSession } from './opened-session.js';
import { ownerText } from './principal.js';
import type { ServerContext } from './server-context.js';
import { sendForSession, type SessionIdentity } from './session-http.js';

/** DELETEs under way at any moment, for each server and principal. */
const AT_ONCE = 8;
/** Nobody waits for what is sent here, from the start. */
const NOBODY_WAITS = AbortSignal.abort();

/** Whose credentials these are, comparable with what another process wrote into the ledger. */
export function ledgerPrincipal(context: ServerContext, headers: ReadonlyMap<string, string>): string {
  return context.ledger.fingerprint(context.owner ?? ownerText(headers));
}

/** Looks once for each server and principal. Returns at once, and never throws. */
export function reclaimLater(context: ServerContext, opened: OpenedSession): void {
  const principal = ledgerPrincipal(context, opened.credentials);
  context.clock.after(0, () => {
    void reclaim(context, opened, principal);
  });
}

async function reclaim(context: ServerContext, opened: OpenedSession, principal: string): Promise<void> {
  const left = context.ledger.claim(context.settings.url.href, principal);
  let isRefused = false;
  const worker = async (): Promise<void> => {
    for (let entry = left.shift(); entry !== undefined && !isRefused; entry = left.shift()) {
      // Who is refused once is refused again; what is left stays in the ledger.
      await endOne(context, opened, entry, (status) => {
        isRefused ||= status === 401 || status === 403;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, worker));
}

async function endOne(
  context: ServerContext,
  { version }: OpenedSession,
  { url, id, principal }: LedgerEntry,
  onRefused: (status: number | undefined) => void,
): Promise<void> {
  const { settings, terminator, ledger, tally } = context;
  const identity: SessionIdentity = {
    id,
    version,
    cookies: createCookieJar(settings.url),
    lastHeaders: new Map(),
    credentials: new Map(),
  };
  const isEnded = await terminator.end(
    {
      id,
      async send(signal) {
        const isOurs = ledgerPrincipal(context, await context.background()) === principal;
        if (!isOurs) throw new Error('the credentials are somebody else’s by now');
        const reply = await sendForSession(context, identity, {
          method: 'DELETE',
          accept: '*/*',
          signal,
          background: true,
          abandoned: NOBODY_WAITS,
          // A session of the past is no reason to ask anybody to sign in.
          noRetryAfter: NOBODY_WAITS,
        });
        reply.response.discard();
        const { status, retryAfterMs } = reply;
        return retryAfterMs === undefined ? { status } : { status, retryAfterMs };
      },
      onConfirmed(status, durationMs) {
        ledger.settled(url, id);
        tally.reclaimed += 1;
        publish('reclaimed', { server: context.name, session: context.fingerprint(id), status, durationMs });
      },
      onNotConfirmed: onRefused,
    },
    settings.deleteMs,
  );
  // This process has ended a session of that name before; the terminator knows, and sends nothing.
  if (isEnded) ledger.settled(url, id);
}
