/**
 * Whose credentials a request carries, as a fingerprint; sessions are never shared between two of them.
 * Owns: which tokens the server has accepted, and which principal their claims then stand for.
 * Refuses: to believe a JWT that the server has not accepted: until then the principal is the token itself.
 */
import { sortedHeaders } from '../protocol/headers.js';
import type { Fingerprint } from '../session/fingerprint.js';

export interface Principals {
  /** The principal of a request with these headers. */
  of(headers: ReadonlyMap<string, string>): string;
  /** The server accepted `initialize` with these headers. */
  accepted(headers: ReadonlyMap<string, string>): void;
}

/** Header names that say who one is. */
const CREDENTIAL =
  /^cookie$|(?<!idempotency-)key|token|secret|auth|jwt|assertion|passw|credential|signature|user(?!-agent)|tenant|account/;
/** Accepted tokens that are remembered. */
const REMEMBERED = 1_000;

export function createPrincipals(fingerprint: Fingerprint): Principals {
  const acceptedKeys = new Set<string>();
  const byClaims = new Map<string, string>();

  const keyOf = (headers: ReadonlyMap<string, string>): string => {
    const parts = sortedHeaders(headers).filter(([name]) => CREDENTIAL.test(name));
    return fingerprint(JSON.stringify(parts));
  };

  return {
    of(headers) {
      const key = keyOf(headers);
      const claims = claimsOf(headers);
      return claims !== undefined && acceptedKeys.has(key) ? (byClaims.get(claims) ?? key) : key;
    },
    accepted(headers) {
      const claims = claimsOf(headers);
      if (claims === undefined) return;
      const key = keyOf(headers);
      acceptedKeys.add(key);
      if (!byClaims.has(claims)) byClaims.set(claims, key);
      for (const set of [acceptedKeys, byClaims]) {
        const [oldest] = set.keys();
        if (set.size > REMEMBERED && oldest !== undefined) set.delete(oldest);
      }
    },
  };
}

/** Whose credentials these headers are, by words that stay when a JWT is renewed. Holds secrets: hash it. */
export function ownerText(headers: ReadonlyMap<string, string>): string {
  return (
    claimsOf(headers) ?? JSON.stringify(sortedHeaders(headers).filter(([name]) => CREDENTIAL.test(name)))
  );
}

/** Issuer, subject and client of a bearer JWT, with the other credentials beside it; undefined for anything else. */
function claimsOf(headers: ReadonlyMap<string, string>): string | undefined {
  const [, payload] = /^Bearer [\w-]+\.([\w-]+)\.[\w-]+$/i.exec(headers.get('authorization') ?? '') ?? [];
  if (payload === undefined) return undefined;
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
    if (typeof claims.iss !== 'string' || typeof claims.sub !== 'string') return undefined;
    const others = sortedHeaders(headers).filter(
      ([name]) => name !== 'authorization' && CREDENTIAL.test(name),
    );
    return JSON.stringify([claims.iss, claims.sub, claims.azp ?? claims.client_id ?? null, others]);
  } catch {
    return undefined;
  }
}
