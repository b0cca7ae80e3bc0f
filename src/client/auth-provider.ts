/**
 * The SDKs' providers of tokens, as far as Mooring asks them; structural, no import.
 */

/**
 * Where bearer tokens come from. Fits `AuthProvider` of SDK v2 (`token`, `onUnauthorized`) and
 * `OAuthClientProvider` of both SDKs (`tokens`; signing in needs the option `auth`).
 */
export interface AuthProvider {
  token?(): string | undefined | Promise<string | undefined>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the SDKs' own type has more fields than are read here
  tokens?(context?: any): any;
  // oxlint-disable-next-line typescript/no-explicit-any -- v2 passes a Response and a fetch of its own types
  onUnauthorized?(context: any): Promise<void>;
}

/** The `auth` function of either SDK. */
// oxlint-disable-next-line typescript/no-explicit-any -- the SDKs' own types differ
export type AuthFunction = (provider: any, options: any) => Promise<'AUTHORIZED' | 'REDIRECT'>;
