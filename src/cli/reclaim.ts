/**
 * `mooring reclaim`: ends what killed processes left open, without waiting for the next one that speaks to the server.
 * Owns: which of it may be tried with the credentials at hand. Refuses: to send a credential to a server that was
 * not named, to print a session id or a URL's query.
 */
import { defineCommand } from 'citty';
import { ownerText } from '../client/principal.js';
import { createUndiciWire } from '../client/undici-wire.js';
import { type Clock, systemClock } from '../clock.js';
import { headerFault, SESSION_ID } from '../protocol/headers.js';
import { meaningOfDelete } from '../protocol/meaning.js';
import type { LedgerEntry } from '../session/outbound/ledger.js';
import { createLedger } from '../session/outbound/ledger/create-ledger.js';
import { defaultDirectory } from '../session/outbound/ledger/directory.js';
import { EXIT_FAILED, EXIT_FINE } from './commands.js';
import { readFlags, UsageError } from './flags.js';

interface Result {
  /** Sessions in the files of dead processes. */
  found: number;
  /** The server confirmed their DELETE. */
  ended: number;
  /** The server knows them no more, or lets nobody end them. */
  gone: number;
  /** Not confirmed; they stay for a later try. */
  failed: number;
}

const DELETES_AT_ONCE = 8;
const DELETE_MS = 10_000;
const QUIET_MS = 2_000;
const PROGRESS_MS = 1_000;

export const reclaim = defineCommand({
  meta: {
    name: 'reclaim',
    description:
      'Ends the MCP sessions that killed processes left open. Without --url: those that were opened without ' +
      'credentials, at any server',
  },
  args: {
    'dry-run': { type: 'boolean', description: 'Only count' },
    json: { type: 'boolean', description: 'Print { found, ended, gone, failed } on stdout' },
    url: {
      type: 'string',
      description: 'Only sessions with this server, whoever opened them',
      valueHint: 'URL',
    },
    header: {
      type: 'string',
      description: 'Sent with each DELETE to --url; may be repeated',
      valueHint: 'name: value',
    },
  },
  async run({ rawArgs }) {
    const flags = readFlags(rawArgs, {
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
      url: { type: 'string' },
      header: { type: 'string', multiple: true },
    });
    const url = readUrl(flags.url);
    const headers = readHeaders(flags.header ?? []);
    if (headers.size > 0 && url === undefined) {
      throw new UsageError('--header needs --url: a credential is for one server, not for all in the record');
    }
    const { result, words } = await reclaimAll({ url, headers, isDry: flags['dry-run'] ?? false });
    if (flags.json === true) process.stdout.write(`${JSON.stringify(result)}\n`);
    process.stderr.write(`${words}\n`);
    return result.failed > 0 ? EXIT_FAILED : EXIT_FINE;
  },
});

async function reclaimAll({
  url,
  headers,
  isDry,
}: {
  url: string | undefined;
  headers: ReadonlyMap<string, string>;
  isDry: boolean;
}): Promise<{ result: Result; words: string }> {
  const warn = (text: string): void => void process.stderr.write(`mooring reclaim: ${text}\n`);
  const ledger = createLedger({ clock: systemClock, directory: defaultDirectory(), warn });
  const found = ledger.list().filter((entry) => url === undefined || entry.url === url);
  const result: Result = { found: found.length, ended: 0, gone: 0, failed: 0 };
  if (found.length === 0) return { result, words: 'Nothing is left of killed processes.' };
  const nobody = ledger.fingerprint(ownerText(new Map()));
  const isWanted = (entry: LedgerEntry): boolean =>
    url === undefined ? entry.principal === nobody : entry.url === url;
  const guarded = found.filter((entry) => !isWanted(entry));
  const rest = guarded.length === 0 ? '' : `\n${credentialsNeeded(guarded)}`;
  if (isDry) return { result, words: `${count(found.length)} left by killed processes.${rest}` };

  const entries = ledger.claimWhere(isWanted);
  const total = entries.length;
  const stopProgress = showProgress(systemClock, () => {
    const done = result.ended + result.gone + result.failed;
    process.stderr.write(`${done} of ${total} sessions\n`);
  });
  const send = createSender(headers);
  const worker = async (): Promise<void> => {
    for (let entry = entries.shift(); entry !== undefined; entry = entries.shift()) {
      const status = await send(entry);
      if (status === undefined || meaningOfDelete(status) !== 'confirmed') {
        result.failed += 1;
        continue;
      }
      ledger.settled(entry.url, entry.id);
      result[status < 300 ? 'ended' : 'gone'] += 1;
    }
  };
  await Promise.all(Array.from({ length: DELETES_AT_ONCE }, worker));
  stopProgress();
  // What failed is in our file, and ours no more.
  ledger.release();
  const failed = result.failed === 0 ? '' : `, ${result.failed} failed and stay for a later try`;
  return { result, words: `${count(result.ended)} ended, ${result.gone} were gone${failed}.${rest}` };
}

/** Sends one DELETE; resolves with its status, undefined: no answer. */
function createSender(
  headers: ReadonlyMap<string, string>,
): (entry: LedgerEntry) => Promise<number | undefined> {
  const wire = createUndiciWire();
  return async ({ url, id }) => {
    const controller = new AbortController();
    const deadline = systemClock.hold(DELETE_MS, () => controller.abort());
    try {
      const response = await wire.send({
        method: 'DELETE',
        url: new URL(url),
        headers: new Map([...headers, [SESSION_ID, id]]),
        signal: controller.signal,
        lane: 'call',
      });
      response.discard();
      return response.status;
    } catch {
      return undefined;
    } finally {
      deadline.cancel();
    }
  };
}

function showProgress(clock: Clock, show: () => void): () => void {
  const again = (): void => {
    show();
    timer = clock.after(PROGRESS_MS, again);
  };
  let timer = clock.after(QUIET_MS, again);
  return () => timer.cancel();
}

/** Which servers, without what their URLs may hide. */
function credentialsNeeded(entries: readonly LedgerEntry[]): string {
  const byServer = new Map<string, number>();
  for (const { url } of entries) {
    const { origin, pathname } = new URL(url);
    byServer.set(origin + pathname, (byServer.get(origin + pathname) ?? 0) + 1);
  }
  const lines = [...byServer].map(([server, sessions]) => `  ${server}: ${count(sessions)}`);
  return [
    "Opened with credentials, and left alone (name the server: --url URL --header 'name: value'):",
    ...lines,
  ].join('\n');
}

function count(sessions: number): string {
  return sessions === 1 ? '1 session' : `${sessions} sessions`;
}

function readUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text))
    throw new UsageError('--url is not a URL; write it out, like http://127.0.0.1:5757/mcp');
  return new URL(text).href;
}

function readHeaders(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    // The line may be a secret: it is not repeated.
    if (name === '') throw new UsageError("--header is written 'name: value'");
    const fault = headerFault(name, value);
    if (fault !== undefined) throw new UsageError(`--header: ${fault}`);
    headers.set(name, value);
  }
  return headers;
}
