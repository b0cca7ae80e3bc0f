/**
 * Options of `createSessions` and `createTransport`: what they are, their bounds and defaults, read once.
 * Refuses: unknown names, wrong types and values out of bounds, with MOORING_BAD_OPTIONS that names each.
 */
import { z } from 'zod';
import { MooringError } from '../errors.js';
import { type HeadersLike, headerFault, sortedHeaders, toHeaderMap } from '../protocol/headers.js';
import type { AuthFunction, AuthProvider } from './auth-provider.js';
import type { FetchLike } from './fetch-wire.js';

/** When a listening stream (the standalone GET) is held. */
export type Listen = 'off' | 'active' | 'always';

/** One MCP server, and how its sessions are kept. Durations are milliseconds. */
export interface ServerOptions {
  /** The Streamable HTTP endpoint, http or https. */
  url: string | URL;
  /**
   * Sent with every request; a function is asked again for each one (report R067). Sessions are not shared between
   * callers whose credentials differ; say who they are with `principal` where these change by themselves.
   */
  headers?: HeadersLike | (() => HeadersLike | Promise<HeadersLike>) | undefined;
  /** Bearer tokens: an `AuthProvider` of SDK v2, or an `OAuthClientProvider` of either SDK. */
  authProvider?: AuthProvider | undefined;
  /** The SDK's `auth` function; with it an `OAuthClientProvider` can refresh and sign in. */
  auth?: AuthFunction | undefined;
  /**
   * Whose credentials these are, when their bytes do not tell: a token that is replaced now and then, a signature
   * that is new each time. A function is asked at each `acquire`. @default told by the headers; one for an authProvider
   */
  principal?: string | (() => string | Promise<string>) | undefined;
  /** Used in place of Mooring's own HTTP client. */
  fetch?: FetchLike | undefined;
  /** Sessions at any moment, for each principal, 1 to 10,000. @default 16 */
  maxSessions?: number | undefined;
  /** How long an open, or a wait for a free session, may take. @default 30_000 */
  acquireMs?: number | undefined;
  /**
   * `active`: a stream while the session works and `streamIdleMs` after; `off`: never; `always`: while it lives.
   * @default 'active'
   */
  listen?: Listen | undefined;
  /** @default 10_000 */
  streamIdleMs?: number | undefined;
  /** A session without work for this long is ended; the next work opens another. @default 600_000 */
  idleMs?: number | undefined;
  /** How long a session that is being ended waits for requests in flight. @default 5_000 */
  drainMs?: number | undefined;
  /** Deadline of a DELETE, fetching credentials included. @default 2_000 */
  deleteMs?: number | undefined;
  /** How long the end of the process may wait for DELETEs. @default 2_000 */
  exitMs?: number | undefined;
}

/** Options with every default filled in. */
export interface ServerSettings {
  url: URL;
  headers: ServerOptions['headers'];
  authProvider: AuthProvider | undefined;
  auth: AuthFunction | undefined;
  principal: ServerOptions['principal'];
  fetch: FetchLike | undefined;
  maxSessions: number;
  acquireMs: number;
  listen: Listen;
  streamIdleMs: number;
  idleMs: number;
  drainMs: number;
  deleteMs: number;
  exitMs: number;
}

/** Node's timers end here. */
const MAX_MS = 2 ** 31 - 1;
/** Options that are durations, and the least that each may be, ms. */
const DURATIONS: Readonly<Record<string, number>> = {
  acquireMs: 1,
  streamIdleMs: 0,
  idleMs: 1,
  drainMs: 0,
  deleteMs: 1,
  exitMs: 0,
};

const ms = (name: string, fallback: number): z.ZodDefault<z.ZodNumber> =>
  z
    .number()
    .min(DURATIONS[name] ?? 0)
    .max(MAX_MS)
    .default(fallback);

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const isHeaders = (value: unknown): boolean => {
  if (!isObject(value)) return false;
  if (!(Symbol.iterator in (value as object))) return true;
  const isPair = (entry: unknown): boolean =>
    Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string');
  return [...(value as Iterable<unknown>)].every(isPair);
};

const schema = z.strictObject({
  url: z
    .custom<string | URL>((value) => typeof value === 'string' || value instanceof URL, 'must be a URL')
    .transform((value, context) => {
      try {
        const url = new URL(value);
        const fault = urlFault(url);
        if (fault === undefined) return url;
        context.addIssue({ code: 'custom', message: fault });
      } catch {
        context.addIssue({
          code: 'custom',
          message: 'is not a URL; write it out, like http://127.0.0.1:5757/mcp',
        });
      }
      return z.NEVER;
    }),
  headers: z
    .custom<ServerOptions['headers']>(
      (value) => isFunction(value) || isHeaders(value),
      'must be headers (an object, or pairs of name and value) or a function',
    )
    .optional(),
  authProvider: z.custom<AuthProvider>(isObject, 'must be an object with token() or tokens()').optional(),
  auth: z.custom<AuthFunction>(isFunction, "must be the SDK's auth function").optional(),
  principal: z
    .custom<ServerOptions['principal']>(
      (value) => isFunction(value) || (typeof value === 'string' && value !== ''),
      'must be a string or a function that returns one',
    )
    .optional(),
  fetch: z.custom<FetchLike>(isFunction, 'must be a function').optional(),
  maxSessions: z.number().int().min(1).max(10_000).default(16),
  acquireMs: ms('acquireMs', 30_000),
  listen: z.enum(['off', 'active', 'always']).default('active'),
  streamIdleMs: ms('streamIdleMs', 10_000),
  idleMs: ms('idleMs', 600_000),
  drainMs: ms('drainMs', 5_000),
  deleteMs: ms('deleteMs', 2_000),
  exitMs: ms('exitMs', 2_000),
});

function urlFault(url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http or https URL';
  if (url.username === '' && url.password === '') return undefined;
  return 'must not hold a user name or password; send them in headers (authorization: Basic ...)';
}

/** Reads one server's options. `where` is how errors name it. */
export function readServerOptions(where: string, options: unknown): ServerSettings {
  const result = schema.safeParse(options);
  if (!result.success) {
    const faults = result.error.issues.map(inWords);
    throw new MooringError('MOORING_BAD_OPTIONS', `${where}: ${faults.join('; ')}`, { server: where });
  }
  const settings = result.data;
  if (settings.headers !== undefined && typeof settings.headers !== 'function') {
    for (const [name, value] of toHeaderMap(settings.headers)) {
      const fault = headerFault(name, value);
      if (fault !== undefined) {
        throw new MooringError('MOORING_BAD_OPTIONS', `${where}: headers: ${fault}`, { server: where });
      }
    }
  }
  return {
    ...settings,
    headers: settings.headers,
    authProvider: settings.authProvider,
    auth: settings.auth,
    principal: settings.principal,
    fetch: settings.fetch,
  };
}

/** One fault, with what is allowed. */
function inWords(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schema.shape).join(', ');
    return `unknown option ${issue.keys.join(', ')}; there are ${known}`;
  }
  const [name] = issue.path;
  if (typeof name !== 'string') return "wants an object like { url: 'http://127.0.0.1:5757/mcp' }";
  if (name in DURATIONS) return `${name}: must be a number of milliseconds, ${DURATIONS[name]} to ${MAX_MS}`;
  if (name === 'maxSessions') return `${name}: must be a whole number, 1 to 10000`;
  if (name === 'listen') return `${name}: must be 'off', 'active' or 'always'`;
  return `${name}: ${issue.message}`;
}

/** What a change of these needs no new session for. */
const BOUNDS = [
  'maxSessions',
  'acquireMs',
  'streamIdleMs',
  'idleMs',
  'drainMs',
  'deleteMs',
  'exitMs',
] as const satisfies ReadonlyArray<keyof ServerSettings>;

/** True when sessions opened with `a` may go on under `b`: only bounds differ. A header function counts by identity. */
export function sameServer(a: ServerSettings, b: ServerSettings): boolean {
  const sameHeaders =
    typeof a.headers === 'function' || typeof b.headers === 'function'
      ? a.headers === b.headers
      : headersAsText(a) === headersAsText(b);
  return (
    sameHeaders &&
    a.url.href === b.url.href &&
    a.listen === b.listen &&
    a.authProvider === b.authProvider &&
    a.auth === b.auth &&
    a.principal === b.principal &&
    a.fetch === b.fetch
  );
}

function headersAsText({ headers }: ServerSettings): string {
  if (headers === undefined || typeof headers === 'function') return '';
  return JSON.stringify(sortedHeaders(toHeaderMap(headers)));
}

/** Takes over the bounds of `next`; sessions that live read them from here. */
export function applyBounds(target: ServerSettings, next: ServerSettings): void {
  for (const name of BOUNDS) target[name] = next[name];
}
