/**
 * Cookies that a server set on one session: load balancers pin sessions with them.
 * Owns: names and values for one endpoint URL. Kept with that session (POST, GET, DELETE), with no other.
 * Refuses: cookies for another domain, secure ones over http; RFC 6265 beyond one URL is not needed here.
 */

export interface CookieJar {
  /** Takes the Set-Cookie lines of one response; `wallNow` in milliseconds since 1970 decides what has expired. */
  store(setCookie: readonly string[], wallNow: number): void;
  /** Value of the Cookie header, or undefined when there is none. */
  header(): string | undefined;
}

export function createCookieJar(url: URL): CookieJar {
  const jar = new Map<string, string>();
  return {
    store(setCookie, wallNow) {
      for (const line of setCookie) {
        const [pair = '', ...attributes] = line.split(';');
        const cut = pair.indexOf('=');
        if (cut < 1) continue;
        const name = pair.slice(0, cut).trim();
        const value = pair.slice(cut + 1).trim();
        if (name === '' || /[\r\n;]/.test(value)) continue;
        const scope = readAttributes(attributes, wallNow);
        if (!appliesTo(url, scope)) continue;
        if (scope.expired) jar.delete(name);
        else jar.set(name, value);
      }
    },
    header() {
      if (jar.size === 0) return undefined;
      return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    },
  };
}

interface CookieScope {
  domain?: string;
  path?: string;
  secure: boolean;
  expired: boolean;
}

function readAttributes(attributes: readonly string[], wallNow: number): CookieScope {
  const scope: CookieScope = { secure: false, expired: false };
  let maxAge: number | undefined;
  for (const attribute of attributes) {
    const [rawName = '', rawValue = ''] = attribute.split('=', 2);
    const value = rawValue.trim();
    switch (rawName.trim().toLowerCase()) {
      case 'domain':
        scope.domain = value.replace(/^\./, '').toLowerCase();
        break;
      case 'path':
        scope.path = value;
        break;
      case 'secure':
        scope.secure = true;
        break;
      case 'max-age':
        maxAge = Number(value);
        break;
      case 'expires':
        scope.expired = Date.parse(value) <= wallNow;
        break;
      default:
    }
  }
  // RFC 6265, 5.3: Max-Age wins over Expires.
  if (maxAge !== undefined && !Number.isNaN(maxAge)) scope.expired = maxAge <= 0;
  return scope;
}

function appliesTo(url: URL, { domain, path, secure }: CookieScope): boolean {
  if (secure && url.protocol !== 'https:') return false;
  if (domain !== undefined && domain !== '') {
    const host = url.hostname.toLowerCase();
    if (host !== domain && !host.endsWith(`.${domain}`)) return false;
  }
  if (path?.startsWith('/') && path !== '/') {
    const prefix = path.endsWith('/') ? path : `${path}/`;
    return url.pathname === path || url.pathname.startsWith(prefix);
  }
  return true;
}
