/**
 * Every error that Mooring throws, and the one table that says what each code means on the wire.
 * Owns: codes, HTTP status and JSON-RPC code beside each, the brand.
 * Refuses: to carry an id or a credential; callers put fingerprints into `facts`.
 * docs/errors.md lists the same codes; a test compares the two in both directions.
 */

/**
 * Code -> HTTP status and JSON-RPC error code. The JSON-RPC codes lie in the range that
 * JSON-RPC 2.0 leaves to implementations (-32000 to -32099); -32001 is what MCP servers use
 * for a session that is not there.
 */
export const CODES = {
  /** Every session that the bound allows is leased; nobody gave one back within the deadline. */
  MOORING_POOL_EXHAUSTED: { status: 503, rpc: -32050 },
  /** The connection was lost after the request had been written: it may or may not have run. */
  MOORING_OUTCOME_UNKNOWN: { status: 502, rpc: -32051 },
  /** Two sessions in a row were refused within 30 s of their birth. */
  MOORING_REOPEN_STORM: { status: 503, rpc: -32052 },
  /** The session, lease or manager was closed. */
  MOORING_CLOSED: { status: 503, rpc: -32053 },
  /** `initialize` did not succeed, or the server could not be reached: nothing was called. */
  MOORING_OPEN_FAILED: { status: 502, rpc: -32054 },
  /** The server refused the session again right after it was re-opened. */
  MOORING_SESSION_LOST: { status: 404, rpc: -32001 },
  /** An option is missing, misspelt or out of bounds. */
  MOORING_BAD_OPTIONS: { status: 500, rpc: -32055 },
  /** The server wants other credentials: 401 stayed after one refresh, or 403. */
  MOORING_UNAUTHORIZED: { status: 401, rpc: -32056 },
  /** The server answered with an HTTP status that is neither an answer nor a refusal. */
  MOORING_HTTP_STATUS: { status: 502, rpc: -32057 },
  /** The server's answer was not what Streamable HTTP allows. */
  MOORING_BAD_RESPONSE: { status: 502, rpc: -32058 },
  /** A redirect to another origin, or a second one. */
  MOORING_REDIRECT_REFUSED: { status: 502, rpc: -32059 },
  /** The request itself breaks the protocol: no id, a second `initialize`, a batch where none is allowed. */
  MOORING_BAD_REQUEST: { status: 400, rpc: -32600 },
  /** No such session here: unknown, ended, or another principal's. */
  MOORING_SESSION_NOT_FOUND: { status: 404, rpc: -32001 },
  /** This session has a listening stream, and it is alive. */
  MOORING_STREAM_CONFLICT: { status: 409, rpc: -32060 },
  /** The session table is full and nothing in it may be evicted. */
  MOORING_TABLE_FULL: { status: 503, rpc: -32061 },
} as const satisfies Record<string, { status: number; rpc: number }>;

/** One of the codes in {@link CODES}. */
export type MooringCode = keyof typeof CODES;

/** What an error may say beside its message. All optional; never an id or a credential. */
export interface ErrorFacts {
  /** Name of the configured server, or its origin. */
  server?: string;
  /** First 12 hex digits of a keyed hash of the session id. */
  session?: string;
  /** Number of the attempt to open that this is about. */
  generation?: number;
  /** HTTP status that the other side answered. */
  httpStatus?: number;
  /** True when nothing of the request reached the server: sending it again is safe. */
  isUnsent?: boolean;
  /** When to try again, ms from now. */
  retryAfterMs?: number;
  /** Who holds what is missing: `server/scope` of each lease. */
  holders?: readonly string[];
}

const BRAND = Symbol.for('mooring.error');

/**
 * The base class of every error that Mooring throws.
 * @example
 * ```ts
 * try { await client.callTool({ name: 'pay' }); }
 * catch (error) { if (isMooringError(error) && error.code === 'MOORING_OUTCOME_UNKNOWN') await reconcile(); }
 * ```
 */
export class MooringError extends Error {
  override readonly name: string = 'MooringError';
  readonly code: MooringCode;
  /** HTTP status that a gateway or guard answers with for this code. */
  readonly status: number;
  /** JSON-RPC error code for this code. */
  readonly rpcCode: number;
  readonly facts: Readonly<ErrorFacts>;

  constructor(code: MooringCode, message: string, facts: ErrorFacts = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.status = CODES[code].status;
    this.rpcCode = CODES[code].rpc;
    this.facts = Object.freeze({ ...facts });
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** True for an error of Mooring's, also one from another copy of the package. */
export function isMooringError(value: unknown): value is MooringError {
  return typeof value === 'object' && value !== null && BRAND in value;
}
