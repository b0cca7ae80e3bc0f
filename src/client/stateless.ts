/**
 * Requests that name their own revision, from 2026-07-28 on: no session, no GET, no DELETE, nothing invented.
 * Owns: their life from the POST to the end of its stream; a subscription's stream has a connection of its own.
 * Refuses: to keep anything from one request to the next, cookies included.
 */
import { isMooringError } from '../errors.js';
import { createCookieJar } from '../protocol/cookies.js';
import type { Message } from '../protocol/jsonrpc.js';
import { linkedController } from '../session/waiting.js';
import { exchange } from './exchange.js';
import { badResponse } from './failures.js';
import type { SendOptions } from './outgoing.js';
import { garbage, type Parts } from './parts.js';

/** The request whose answer is a stream without an end. */
const SUBSCRIBE = 'subscriptions/listen';

/** Resolves when the answer has been handed to the host; rejects with a MooringError or the signal's reason. */
export async function sendStateless(
  parts: Parts,
  message: Message,
  version: string,
  options: SendOptions,
): Promise<void> {
  const { context, handle } = parts;
  const isSubscription = message.method === SUBSCRIBE;
  const { controller, unlink } = linkedController(handle.cut, options.signal);
  const identity = {
    id: undefined,
    version,
    cookies: createCookieJar(context.settings.url),
    lastHeaders: new Map(),
    credentials: new Map(),
  };
  const send = async (): Promise<void> => {
    await exchange(context, identity, {
      message,
      signal: controller.signal,
      closing: handle.closing,
      // A stream without an end must not keep an idle host from ending.
      ...(isSubscription ? { lane: 'listen' as const } : {}),
      ...(options.headers === undefined ? {} : { headers: options.headers }),
      onMessage: parts.toHost,
      onGarbage: (what) => parts.onError(garbage(parts, what)),
      // There is no other stream that it could come on.
      elsewhere: () => Promise.reject(badResponse(context, message, '202 and no response', 202)),
    });
  };
  try {
    // A subscription lasts as long as its stream: closing must not wait for it.
    await (isSubscription ? send() : handle.track(`stateless ${parts.nextId()}`, send));
  } catch (error) {
    const hasEnded = isMooringError(error) && error.code === 'MOORING_OUTCOME_UNKNOWN';
    if (!hasEnded || options.onStreamEnd === undefined) throw error;
    options.onStreamEnd();
  } finally {
    unlink();
  }
}
