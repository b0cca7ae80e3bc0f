/**
 * PHP-FPM with a fixed pool behind nginx, as Debian has them, on ports and in a folder of their own.
 * Owns: both processes and their configuration; how many workers are busy, asked on a listener that needs none.
 * Refuses: the machine's own configuration and services.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pause, until } from '../../support/until.js';

export interface PhpPool {
  /** The endpoint. */
  readonly url: string;
  /** Workers that serve a request now. */
  busy(): Promise<number>;
  /** Sessions that the endpoint knows. */
  sessions(): number;
  /** Lines of the endpoint's log that are this. */
  count(line: string): number;
}

export interface PhpPoolOptions {
  workers: number;
  /** How long a listening stream lasts, seconds. */
  streamSeconds: number;
  /** When nginx gives up on PHP, seconds. */
  gatewaySeconds: number;
}

const SCRIPT = fileURLToPath(new URL('./mcp.php', import.meta.url));

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Debian names the binary by its version. */
function fpm(): string {
  const found = readdirSync('/usr/sbin')
    .filter((name) => /^php-fpm[\d.]+$/.test(name))
    .sort();
  const last = found.at(-1);
  if (last === undefined)
    throw new Error('php-fpm is missing. Get it with: apt-get install -y php-fpm nginx-light');
  return `/usr/sbin/${last}`;
}

export async function startPhpPool(t: TestContext, options: PhpPoolOptions): Promise<PhpPool> {
  const home = mkdtempSync(join(tmpdir(), 'mooring-php-'));
  chmodSync(home, 0o755);
  const state = join(home, 'state');
  mkdirSync(state);
  chmodSync(state, 0o777);
  const [port, fastcgi, status] = [await freePort(), await freePort(), await freePort()];
  writeFileSync(
    join(home, 'fpm.conf'),
    `[global]
error_log = ${home}/fpm.log
daemonize = no
[mcp]
listen = 127.0.0.1:${fastcgi}
pm = static
pm.max_children = ${options.workers}
pm.status_path = /status
pm.status_listen = 127.0.0.1:${status}
${process.getuid?.() === 0 ? 'user = nobody\ngroup = nogroup' : ''}
`,
  );
  const params = `fastcgi_param REQUEST_METHOD $request_method; fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param QUERY_STRING $query_string;`;
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; pid ${home}/nginx.pid; error_log ${home}/nginx.log;
events { worker_connections 1024; }
http {
  access_log off; client_body_temp_path ${home}/body; fastcgi_temp_path ${home}/fastcgi;
  proxy_temp_path ${home}/proxy; uwsgi_temp_path ${home}/uwsgi; scgi_temp_path ${home}/scgi;
  server {
    listen 127.0.0.1:${port};
    location = /mcp {
      fastcgi_pass 127.0.0.1:${fastcgi};
      fastcgi_buffering off; fastcgi_read_timeout ${options.gatewaySeconds}s; fastcgi_connect_timeout ${options.gatewaySeconds}s;
      ${params}
      fastcgi_param SCRIPT_FILENAME ${SCRIPT};
      fastcgi_param MCP_STATE ${state}; fastcgi_param MCP_STREAM_S ${options.streamSeconds};
    }
    location = /status {
      fastcgi_pass 127.0.0.1:${status};
      ${params}
      fastcgi_param SCRIPT_NAME /status; fastcgi_param SCRIPT_FILENAME /status;
    }
  }
}
`,
  );
  const children: ChildProcess[] = [];
  let stderr = '';
  const start = (file: string, args: string[]): void => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.once('error', (error) => (stderr += error.message));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    children.push(child);
  };
  t.after(async () => {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    }
    await pause(100);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  start(fpm(), [
    '--nodaemonize',
    '--fpm-config',
    join(home, 'fpm.conf'),
    ...(process.getuid?.() === 0 ? ['-R'] : []),
  ]);
  start('nginx', ['-c', join(home, 'nginx.conf'), '-p', home]);

  const busy = async (): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/status?json`);
    return ((await response.json()) as { 'active processes': number })['active processes'];
  };
  await until(
    `PHP-FPM behind nginx\n${stderr}`,
    () =>
      busy().then(
        () => true,
        () => false,
      ),
    { timeoutMs: 15_000 },
  ).catch((error: Error) => {
    throw new Error(`${error.message}\n${stderr}`);
  });
  const log = (): string[] => {
    try {
      return readFileSync(join(state, 'log'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    busy,
    sessions: () => readdirSync(state).filter((name) => name.startsWith('session-')).length,
    count: (line) => log().filter((entry) => entry === line).length,
  };
}
