export { createFetch, type FetchOptions, type MooringFetch } from './client/fetch/create-fetch.js';
export { createSessions, type Sessions, type SessionsOptions } from './client/sessions.js';
export { createTransport, type MooringTransport } from './client/transport.js';
export { isMooringError, type MooringCode, MooringError } from './errors.js';
