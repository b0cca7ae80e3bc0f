/**
 * The listening GET of the faulty server, and resumption of a cut call by Last-Event-ID.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from './faults.js';
import { beginSse, writeSse } from './sse-writer.js';
import type { FaultySession } from './table.js';

export async function answerGet(
  req: IncomingMessage,
  res: ServerResponse,
  session: FaultySession,
  faults: Faults,
): Promise<void> {
  const last = req.headers['last-event-id'];
  const missed = typeof last === 'string' ? session.resumable.get(last) : undefined;
  if (missed !== undefined) return resume(res, missed, faults);
  const fault = faults.get;
  switch (fault.kind) {
    case 'silent':
      return;
    case 'status':
      res.writeHead(fault.status, { 'content-type': fault.contentType ?? 'text/plain' });
      res.end(fault.body ?? '');
      return;
    case 'eof':
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      return;
    case 'stream':
      break;
  }
  beginSse(res);
  if (fault.retryMs !== undefined) await writeSse(res, { retryMs: fault.retryMs }, faults.sse);
  session.streams.add(res);
  const timers: NodeJS.Timeout[] = [];
  if (fault.endAfterMs !== undefined) timers.push(setTimeout(() => res.end(), fault.endAfterMs));
  if (faults.pingEveryMs > 0) {
    let n = 0;
    timers.push(
      setInterval(() => {
        n += 1;
        void writeSse(res, { message: { jsonrpc: '2.0', id: `ping-${n}`, method: 'ping' } }, faults.sse);
      }, faults.pingEveryMs),
    );
  }
  res.once('close', () => {
    session.streams.delete(res);
    for (const timer of timers) clearTimeout(timer);
  });
}

async function resume(
  res: ServerResponse,
  missed: Promise<{ id?: string }[]>,
  faults: Faults,
): Promise<void> {
  beginSse(res);
  for (const event of await missed) await writeSse(res, event, faults.sse);
  res.end();
}
