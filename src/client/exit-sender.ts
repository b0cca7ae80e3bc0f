/**
 * DELETEs that must be on the wire before the process is gone: a worker sends them, the caller waits.
 * Owns: the worker's code, which is this file's one function as text, so that it survives bundling.
 * Refuses: a process of ours, `execPath`, more than the time it was given.
 */
import { Worker } from 'node:worker_threads';

export interface ExitTarget {
  url: string;
  headers: Record<string, string>;
  /** For a second try after a 401: the headers of its last request may be older than the host's token. */
  otherHeaders?: Record<string, string>;
}

interface WorkerData {
  targets: ExitTarget[];
  deadlineMs: number;
  /** [0] answers so far, [1] 1 when all are there, [2 + n] HTTP status of target n or -1. */
  state: Int32Array;
  /** Proxy for each target, or null. */
  proxies: Array<string | null>;
}

/** Runs in the worker. Self-contained: no import, no outer name; bundlers may rename whatever they like in it. */
// oxlint-disable-next-line typescript/no-explicit-any -- the modules come by name, at run time
function sendAll(load: (name: string) => any, { targets, deadlineMs, state, proxies }: WorkerData): void {
  const http = load('node:http');
  const https = load('node:https');
  const tls = load('node:tls');
  const settle = (at: number, status: number): void => {
    if (Atomics.load(state, 2 + at) !== 0) return;
    Atomics.store(state, 2 + at, status);
    if (Atomics.add(state, 0, 1) + 1 < targets.length) return;
    Atomics.store(state, 1, 1);
    Atomics.notify(state, 1);
  };
  targets.forEach((target, at) => {
    const url = new URL(target.url);
    const proxy = proxies[at] === null ? undefined : new URL(proxies[at] as string);
    const auth: Record<string, string> = proxy?.username
      ? {
          'proxy-authorization': `Basic ${Buffer.from(
            `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`,
          ).toString('base64')}`,
        }
      : {};
    const failed = (): void => settle(at, -1);
    let headers = target.headers;
    // oxlint-disable-next-line typescript/no-explicit-any -- a node:http response
    const answered = (response: any): void => {
      response.resume();
      if (
        response.statusCode !== 401 ||
        target.otherHeaders === undefined ||
        headers === target.otherHeaders
      ) {
        settle(at, response.statusCode);
        return;
      }
      headers = target.otherHeaders;
      send();
    };
    // oxlint-disable-next-line typescript/no-explicit-any -- a node:http request
    const finish = (request: any): void => {
      request.on('error', failed);
      request.setTimeout(deadlineMs, () => request.destroy());
      request.end();
    };
    const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
    const send = (): void => {
      const options = { method: 'DELETE', headers: { ...headers, connection: 'close' } };
      if (proxy === undefined) {
        finish((url.protocol === 'https:' ? https : http).request(url, options, answered));
        return;
      }
      const via = proxy.protocol === 'https:' ? https : http;
      // SNI is for names alone (RFC 6066, 3).
      const isName = load('node:net').isIP(bare(url.hostname)) === 0;
      const host = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
      const tunnel = via.request({
        hostname: bare(proxy.hostname),
        port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
        method: 'CONNECT',
        path: host,
        headers: { host, ...auth },
      });
      // oxlint-disable-next-line typescript/no-explicit-any -- node:http's response and socket
      tunnel.on('connect', (response: any, socket: any) => {
        if (response.statusCode !== 200) return failed();
        const createConnection = (): unknown =>
          url.protocol === 'https:'
            ? tls.connect({
                socket,
                host: bare(url.hostname),
                ...(isName ? { servername: url.hostname } : {}),
              })
            : socket;
        return finish(
          (url.protocol === 'https:' ? https : http).request(url, { ...options, createConnection }, answered),
        );
      });
      finish(tunnel);
    };
    try {
      send();
    } catch {
      failed();
    }
  });
}

/**
 * Sends a DELETE for each target from a worker and blocks this thread until all are answered, at most `deadlineMs`.
 * Returns the HTTP status of each, -1 where there was none. For the `exit` event only: nothing else runs meanwhile.
 */
export function deleteBlocking(targets: ExitTarget[], deadlineMs: number): number[] {
  if (targets.length === 0 || deadlineMs <= 0) return targets.map(() => -1);
  const state = new Int32Array(new SharedArrayBuffer(4 * (2 + targets.length)));
  const workerData: WorkerData = {
    // Only what a worker can be given: callers may hang functions on their targets.
    targets: targets.map(({ url, headers, otherHeaders }) => ({
      url,
      headers,
      ...(otherHeaders === undefined ? {} : { otherHeaders }),
    })),
    deadlineMs,
    state,
    proxies: targets.map(({ url }) => proxyFor(new URL(url), process.env)),
  };
  // Transpilers that keep function names wrap functions in a helper of this name.
  const code = `const __name = (fn) => fn; (${sendAll.toString()})(require, require('node:worker_threads').workerData);`;
  try {
    const worker = new Worker(code, {
      eval: true,
      workerData,
      execArgv: [],
      // Preloads of the host have no business here, and would cost the time that is left.
      env: { ...process.env, NODE_OPTIONS: '' },
      stderr: true,
      stdout: true,
    });
    worker.on('error', () => {});
    worker.unref();
    Atomics.wait(state, 1, 0, deadlineMs);
  } catch {
    // No worker, no DELETE: what is left is for the ledger and the server's own clock.
  }
  return targets.map((_, at) => Atomics.load(state, 2 + at) || -1);
}

/** The proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY give a URL, as undici reads them; null for none. */
export function proxyFor(url: URL, env: Record<string, string | undefined>): string | null {
  const read = (name: string): string | undefined => env[name.toLowerCase()] ?? env[name];
  const httpProxy = read('HTTP_PROXY');
  // An empty HTTPS_PROXY is none, not "no proxy".
  const proxy = (url.protocol === 'https:' && read('HTTPS_PROXY')) || httpProxy;
  if (proxy === undefined || proxy === '' || !URL.canParse(proxy)) return null;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = url.hostname.toLowerCase();
  const list = read('NO_PROXY') ?? '';
  if (list === '*') return null;
  for (const raw of list.split(/[,\s]+/)) {
    if (raw === '' || raw === '*') continue;
    const [, name = '', wantedPort] = /^(.+?)(?::(\d+))?$/.exec(raw.toLowerCase()) ?? [];
    if (wantedPort !== undefined && wantedPort !== port) continue;
    const suffix = name.replace(/^\*?\./, '');
    if (host === suffix || host.endsWith(`.${suffix}`)) return null;
  }
  return proxy;
}
