/** A forward proxy: absolute-form requests and CONNECT, counted. */
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface ForwardProxy {
  readonly url: string;
  /** Requests and tunnels that went through. */
  readonly used: number;
  stop(): Promise<void>;
}

export async function startProxy(): Promise<ForwardProxy> {
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  };
  let used = 0;
  const server = createServer((req, res) => {
    used += 1;
    const { method, headers } = req;
    const onward = request(String(req.url), { method: method ?? 'GET', headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => res.destroy());
    res.on('close', () => onward.destroy());
    req.pipe(onward);
  });
  server.on('connection', keep);
  server.on('connect', (req, socket: Socket) => {
    used += 1;
    const { hostname, port } = new URL(`http://${req.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket);
      socket.pipe(onward);
    });
    keep(onward);
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get used() {
      return used;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}
