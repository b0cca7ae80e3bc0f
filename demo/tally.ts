/**
 * One column of the table, from the server's own log and nothing else. Pure.
 */
import type { LoggedRequest } from './request-log.js';
import type { SessionLife } from './server.js';

export interface Tally {
  sessionsOpened: number;
  /** Distinct ids on GET. */
  sessionsOnGet: number;
  /** Ids with a POST after their first minute. */
  sessionsThatPosted: number;
  /** Ids without a POST after their first minute that were still there a minute later. */
  ghosts: number;
  /** DELETEs that ended a session. */
  deletes: number;
  peakSockets: number;
  /** Sessions in the server's table when the host was gone. */
  liveAtEnd: number;
  /** Calls of the plan without an answer from a tool that ran exactly once. */
  failedCalls: number;
}

export interface TallyInput {
  entries: readonly LoggedRequest[];
  lives: readonly SessionLife[];
  peakSockets: number;
  liveAtEnd: number;
  /** When the day was over, in the log's time. */
  until: number;
  /** What a minute lasts. */
  minuteMs: number;
  /** Every call that the host was to make. */
  plannedKeys: readonly string[];
  /** How often the tool ran for a key. */
  runs: (key: string) => number;
}

export function tally(input: TallyInput): Tally {
  const { entries, lives, minuteMs } = input;
  const lastPost = new Map<string, number>();
  const answered = new Set<string>();
  const onGet = new Set<string>();
  let deletes = 0;
  for (const entry of entries) {
    if (entry.method === 'GET' && entry.sid !== undefined) onGet.add(entry.sid);
    if (entry.method === 'DELETE' && succeeded(entry)) deletes += 1;
    if (entry.method !== 'POST') continue;
    if (entry.sid !== undefined) lastPost.set(entry.sid, entry.at);
    const key = callKey(entry.body);
    if (key !== undefined && succeeded(entry) && entry.complete) answered.add(key);
  }
  const posted = lives.filter((life) => (lastPost.get(life.sid) ?? 0) > life.openedAt + minuteMs);
  const ghosts = lives.filter(
    (life) => !posted.includes(life) && (life.endedAt ?? input.until) > life.openedAt + 2 * minuteMs,
  );
  return {
    sessionsOpened: lives.length,
    sessionsOnGet: onGet.size,
    sessionsThatPosted: posted.length,
    ghosts: ghosts.length,
    deletes,
    peakSockets: input.peakSockets,
    liveAtEnd: input.liveAtEnd,
    failedCalls: input.plannedKeys.filter((key) => !answered.has(key) || input.runs(key) !== 1).length,
  };
}

function succeeded({ status }: LoggedRequest): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** The `key` argument of a tools/call. */
function callKey(body: unknown): string | undefined {
  const message = body as { method?: unknown; params?: { arguments?: { key?: unknown } } } | undefined;
  const key = message?.method === 'tools/call' ? message.params?.arguments?.key : undefined;
  return typeof key === 'string' ? key : undefined;
}
