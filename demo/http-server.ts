/**
 * A listening node:http server on a loopback port, that counts its sockets.
 * Owns: the port (kept over a restart), the sockets, reading a JSON body.
 * Refuses: to know MCP.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface HttpServer {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** Sockets open now. */
  readonly sockets: number;
  /** The most sockets that were ever open at once. */
  readonly peakSockets: number;
  /** Destroys every socket, stays away for `downMs`, and listens on the same port again. */
  restart(downMs?: number): Promise<void>;
  /** Destroys every socket and stops listening; does nothing the second time. */
  stop(): Promise<void>;
}

/** What answers one request; what it throws ends the response. */
export type HttpHandler = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

export async function listenHttp(handler: HttpHandler): Promise<HttpServer> {
  const open = new Set<Socket>();
  let peak = 0;

  const server = createServer((req, res) => {
    void (async () => {
      try {
        await handler(req, res);
      } catch (error) {
        if (!res.headersSent) res.writeHead(500).end(String(error));
        else res.destroy();
      }
    })();
  });
  server.on('connection', (socket) => {
    open.add(socket);
    peak = Math.max(peak, open.size);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const shut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
      open.clear();
    });

  let stopped = false;
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    get sockets() {
      return open.size;
    },
    get peakSockets() {
      return peak;
    },
    async restart(downMs = 0) {
      await shut();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      if (!stopped) await listen(port);
    },
    async stop() {
      stopped = true;
      if (server.listening) await shut();
    },
  };
}

/** The request's body as JSON; undefined when there is none or it is not JSON. */
export async function readJson(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  if (chunks.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Answers with JSON, as one piece. */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string | string[]> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(JSON.stringify(body));
}
