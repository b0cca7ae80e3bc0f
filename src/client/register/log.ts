/**
 * `MOORING_LOG=1`: what was done, on stderr, a line each. Refuses: ids and credentials; events carry fingerprints.
 */
import { subscribe } from 'node:diagnostics_channel';
import { CHANNEL_NAMES, type SessionEvent } from '../../events.js';

export function createLog(): void {
  for (const name of CHANNEL_NAMES) {
    subscribe(name, (event) => {
      process.stderr.write(`${inWords(name, event as SessionEvent)}\n`);
    });
  }
}

/** `mooring: session opened 1a2b3c4d5e6f at 127.0.0.1:5757 (closed, HTTP 200, 12 ms)` */
function inWords(name: string, event: SessionEvent): string {
  const what = name.replace(/^mooring:/, '').replace(':', ' ');
  const facts = [
    event.reason,
    event.status === undefined ? undefined : `HTTP ${event.status}`,
    event.durationMs === undefined ? undefined : `${Math.round(event.durationMs)} ms`,
  ].filter((fact) => fact !== undefined);
  const session = event.session === undefined ? '' : ` ${event.session}`;
  return `mooring: ${what}${session} at ${event.server}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`;
}
