/**
 * Who we are towards one server: headers and tokens, asked for at every request, refreshed once for all.
 * Owns: the one refresh that everybody who saw the same 401 shares (rule "Refused", report R067).
 * Refuses: to keep a credential; the last one used is remembered only as a hash.
 */
import { MooringError } from '../errors.js';
import { headerFault, toHeaderMap } from '../protocol/headers.js';
import type { ServerSettings } from './options.js';
import type { WireResponse } from './wire.js';

export interface Credentials {
  /** Headers of one request, lower-case names. Rejects with what the host's function throws, or MOORING_BAD_OPTIONS. */
  headers(): Promise<Map<string, string>>;
  /**
   * After a 401 to a request that carried `used` (what {@link headers} gave for it): true when it is worth asking once more.
   * Rejects with MOORING_UNAUTHORIZED when somebody has to sign in first.
   */
  refresh(
    used: ReadonlyMap<string, string>,
    response: WireResponse,
    ask?: () => Promise<Map<string, string>>,
  ): Promise<boolean>;
  /** Exchanges the code of an OAuth sign-in. Rejects with MOORING_BAD_OPTIONS, MOORING_UNAUTHORIZED. */
  finish(authorizationCode: string): Promise<void>;
}

export function createCredentials(server: string, settings: ServerSettings): Credentials {
  const { authProvider, auth } = settings;
  let refreshing: Promise<boolean> | undefined;

  const bearer = async (): Promise<string | undefined> => {
    if (authProvider?.token !== undefined) return authProvider.token();
    const tokens = (await authProvider?.tokens?.()) as { access_token?: unknown } | undefined;
    return typeof tokens?.access_token === 'string' ? tokens.access_token : undefined;
  };

  const headers = async (): Promise<Map<string, string>> => {
    const source = settings.headers;
    const map = toHeaderMap(typeof source === 'function' ? await source() : source);
    const token = await bearer();
    if (token !== undefined) map.set('authorization', `Bearer ${token}`);
    for (const [name, value] of map) {
      const fault = headerFault(name, value);
      if (fault === undefined) continue;
      throw new MooringError('MOORING_BAD_OPTIONS', `headers of ${server}: ${fault}`, { server });
    }
    return map;
  };

  const askProvider = async (response: WireResponse): Promise<boolean> => {
    const challenge = response.header('www-authenticate');
    if (authProvider?.onUnauthorized !== undefined) {
      await authProvider.onUnauthorized({
        response: new Response(null, {
          status: 401,
          headers: challenge === undefined ? {} : { 'www-authenticate': challenge },
        }),
        serverUrl: settings.url,
        fetchFn: settings.fetch ?? fetch,
      });
      return true;
    }
    if (authProvider === undefined || auth === undefined) return false;
    const outcome = await auth(authProvider, {
      serverUrl: settings.url,
      fetchFn: settings.fetch ?? fetch,
      ...challengeParameters(challenge),
    });
    if (outcome === 'AUTHORIZED') return true;
    throw unauthorized(server, 401, 'the user has to sign in; then call finishAuth() and connect again');
  };

  const changed = async (
    used: ReadonlyMap<string, string>,
    ask: () => Promise<Map<string, string>>,
  ): Promise<boolean> => {
    const now = await ask();
    return now.size !== used.size || [...now].some(([name, value]) => used.get(name) !== value);
  };

  return {
    headers,
    async refresh(used, response, ask = headers) {
      // Somebody else may have signed in meanwhile; then there is nothing to refresh.
      if (refreshing === undefined && (await changed(used, ask))) return true;
      refreshing ??= askProvider(response).finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },
    async finish(authorizationCode) {
      if (authProvider === undefined || auth === undefined) {
        throw new MooringError(
          'MOORING_BAD_OPTIONS',
          "finishAuth needs the options authProvider and auth (the SDK's auth function)",
          { server },
        );
      }
      const outcome = await auth(authProvider, {
        serverUrl: settings.url,
        authorizationCode,
        fetchFn: settings.fetch ?? fetch,
      });
      if (outcome !== 'AUTHORIZED')
        throw unauthorized(server, 401, 'the code was not accepted; sign in again');
    },
  };
}

/** `resource_metadata` and `scope` of a challenge, RFC 9728 and RFC 6750. */
function challengeParameters(challenge: string | undefined): { resourceMetadataUrl?: URL; scope?: string } {
  if (challenge === undefined) return {};
  const read = (name: string): string | undefined =>
    new RegExp(`${name}="([^"]*)"`, 'i').exec(challenge)?.[1] ?? undefined;
  const metadata = read('resource_metadata');
  const scope = read('scope');
  return {
    ...(metadata !== undefined && URL.canParse(metadata) ? { resourceMetadataUrl: new URL(metadata) } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** SDK v2 lets errors with this mark through its version negotiation as "sign in first". */
const SDK_AUTH_SEAM = Symbol.for('mcp.authSeamEscape');

export function unauthorized(server: string, httpStatus: number, hint: string): MooringError {
  const error = new MooringError(
    'MOORING_UNAUTHORIZED',
    `${server} wants other credentials (HTTP ${httpStatus}): ${hint}`,
    { server, httpStatus },
  );
  Object.defineProperty(error, SDK_AUTH_SEAM, { value: true });
  return error;
}
