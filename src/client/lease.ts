/**
 * A caller's borrow of a session. Refuses: to be given back twice, to show an id.
 */
import type { Fingerprint } from '../session/fingerprint.js';
import type { Member } from './server-pool.js';
import type { SdkClient } from './sdk-shapes.js';

export interface Lease<C extends SdkClient> {
  /** The SDK client; it survives re-opening. Do not close it: end its scope instead. */
  readonly client: C;
  readonly server: string;
  readonly scope: string;
  /** Number of the session behind the client, from 1; grows by each re-open. 0 when there is none just now. */
  readonly generation: number;
  /** First 12 hex digits of a keyed hash of the session id; undefined for a server without sessions. */
  readonly session: string | undefined;
  /** Gives the session back; does nothing the second time. */
  release(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface LeaseParts<C extends SdkClient> {
  server: string;
  scope: string;
  member: Member<C>;
  release(): void;
  fingerprint: Fingerprint;
}

export function createLease<C extends SdkClient>({
  server,
  scope,
  member,
  release,
  fingerprint,
}: LeaseParts<C>): Lease<C> {
  let released = false;
  const once = (): void => {
    if (released) return;
    released = true;
    release();
  };
  return {
    client: member.client,
    server,
    scope,
    get generation() {
      return member.connection.handle.current?.number ?? 0;
    },
    get session() {
      const id = member.connection.handle.current?.opened.id;
      return id === undefined ? undefined : fingerprint(id);
    },
    release: once,
    async [Symbol.asyncDispose]() {
      once();
    },
  };
}
