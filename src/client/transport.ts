/**
 * `createTransport`: one session for one SDK client, the smallest way in.
 * Owns: a core of its own, one connection. Refuses: nothing that the other way in allows.
 */
import { createConnection, type Connection } from './connection.js';
import { createCore, createTally, type LedgerOption } from './core.js';
import { ledgerFault } from './ledger-option.js';
import { MooringError } from '../errors.js';
import { createCredentials } from './credentials.js';
import { readServerOptions, type ServerOptions } from './options.js';
import type { SdkTransport } from './sdk-shapes.js';
import { createSdkTransport } from './sdk-transport.js';

/** How the one session is kept, and where it is written down. */
export interface TransportOptions extends Omit<ServerOptions, 'url' | 'maxSessions' | 'principal'> {
  /** As for `createSessions`: `false` for no record that outlives a crash, `{ dir }` for a folder of your own. */
  ledger?: LedgerOption | undefined;
}

/** A Transport that SDK v1 and v2 accept. */
export interface MooringTransport extends SdkTransport {
  /** Finishes an OAuth sign-in with the code that came back; needs the options `authProvider` and `auth`. */
  finishAuth(authorizationCode: string): Promise<void>;
}

/**
 * A transport for `client.connect()` of SDK v1 or v2 whose session is opened once, re-opened when the server
 * forgets it, and always ended: by `close()`, when idle, at the end of the process.
 *
 * @param url the Streamable HTTP endpoint
 * @param options bounds and credentials, all optional; durations in milliseconds
 * @throws MooringError MOORING_BAD_OPTIONS
 * @example
 * ```ts
 * const client = new Client({ name: 'my-agent', version: '1.0.0' });
 * await client.connect(createTransport('http://127.0.0.1:5757/mcp'));
 * await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
 * await client.close(); // one DELETE
 * ```
 */
export function createTransport(url: string | URL, options: TransportOptions = {}): MooringTransport {
  const { ledger, ...rest } = options;
  const settings = readServerOptions('createTransport', { ...rest, url });
  const fault = ledgerFault(ledger);
  if (fault !== undefined) throw new MooringError('MOORING_BAD_OPTIONS', `createTransport: ${fault}`);
  const core = createCore({
    hooks: true,
    ...(ledger === undefined ? {} : { ledger }),
    release: (deadlineMs) =>
      connection.close('signal', { drainMs: 0, deleteMs: Math.min(deadlineMs, settings.deleteMs) }),
    rest: () => connection.handle.sleep('exit'),
  });
  const name = settings.url.host;
  const credentials = createCredentials(name, settings);
  const context = core.context(name, settings, credentials, {
    tally: createTally(),
    principal: 'self',
    onAccepted: () => {},
  });
  const { transport, toHost, onError } = createSdkTransport(
    () => connection,
    async (reason) => {
      await connection.close(reason);
      core.retire();
    },
    () => core.isEnding,
  );
  const connection: Connection = createConnection(context, { scope: 'process', toHost, onError });
  return Object.assign(transport, {
    finishAuth: (code: string) => credentials.finish(code),
  });
}
