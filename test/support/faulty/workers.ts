/**
 * A pool of workers: each serves one request until its response is over, as PHP-FPM or a WSGI server does.
 * An open GET holds its worker, and what finds none waits in line.
 */
import type { ServerResponse } from 'node:http';

export interface WorkerPool {
  /** Resolves when a worker is free for this response, or false when its client left the line. */
  take(res: ServerResponse, size: number): Promise<boolean>;
  readonly busy: number;
  readonly waiting: number;
}

export function createWorkerPool(): WorkerPool {
  const line: (() => void)[] = [];
  let busy = 0;
  return {
    get busy() {
      return busy;
    },
    get waiting() {
      return line.length;
    },
    take: (res, size) =>
      new Promise((resolve) => {
        const start = (): void => {
          res.off('close', leave);
          busy += 1;
          res.once('close', () => {
            busy -= 1;
            line.shift()?.();
          });
          resolve(true);
        };
        const leave = (): void => {
          line.splice(line.indexOf(start), 1);
          resolve(false);
        };
        res.once('close', leave);
        if (busy < size) start();
        else line.push(start);
      }),
  };
}
