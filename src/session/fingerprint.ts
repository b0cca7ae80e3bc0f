/**
 * What may be shown in place of a session id or a credential: 12 hex digits of a keyed hash.
 * The key is random per instance, so that fingerprints of two processes cannot be compared by outsiders.
 */
import { createHmac, randomBytes } from 'node:crypto';

export type Fingerprint = (secret: string) => string;

/** First 12 hex digits of HMAC-SHA-256. */
export function createFingerprint(key: Uint8Array = randomBytes(32)): Fingerprint {
  return (secret) => createHmac('sha256', key).update(secret).digest('hex').slice(0, 12);
}
