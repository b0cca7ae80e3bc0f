/**
 * A certificate authority of this test's own, and TLS in front of a plain server.
 * Owns: the key (made anew each time), the file that NODE_EXTRA_CA_CERTS names.
 * Refuses: to understand what it carries.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import type { TestContext } from 'node:test';
import { generate } from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
  /** The same certificate as a file, for NODE_EXTRA_CA_CERTS. */
  file: string;
}

/** For localhost and 127.0.0.1; removed after the test. */
export async function makeCertificate(t: TestContext): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const folder = mkdtempSync(join(tmpdir(), 'mooring-ca-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ca.pem');
  writeFileSync(file, made.cert);
  return { key: made.private, cert: made.cert, file };
}

/** Carries bytes to and from the server at `origin`; the result is its own origin, with https. */
export async function startTlsFront(
  t: TestContext,
  origin: string,
  { key, cert }: Pick<TlsOptions, 'key' | 'cert'>,
): Promise<string> {
  const { port, hostname } = new URL(origin);
  const sockets = new Set<Socket>();
  const server = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, (outside) => {
    const inside = connect(Number(port), hostname);
    for (const socket of [outside, inside]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        outside.destroy();
        inside.destroy();
        sockets.delete(socket);
      });
    }
    outside.pipe(inside).pipe(outside);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
