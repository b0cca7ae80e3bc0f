export type { AuthFunction, AuthProvider } from './client/auth-provider.js';
export { createFetch, type FetchOptions, type MooringFetch } from './client/fetch/create-fetch.js';
export type { FetchInit, FetchLike, FetchResponse } from './client/fetch-wire.js';
export type { Lease } from './client/lease.js';
export type { Listen, ServerOptions } from './client/options.js';
export type { SdkClient, SdkTransport } from './client/sdk-shapes.js';
export {
  createSessions,
  type ServerStats,
  type Sessions,
  type SessionsOptions,
  type UseOptions,
} from './client/sessions.js';
export { createTransport, type MooringTransport, type TransportOptions } from './client/transport.js';
export { type ErrorFacts, isMooringError, type MooringCode, MooringError } from './errors.js';
export { CHANNEL_NAMES, type EndReason, type RequestEvent, type SessionEvent } from './events.js';
