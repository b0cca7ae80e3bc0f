/**
 * A working day of an agent host, in small: what happens, in which order. The same for both columns.
 * Owns: the plan, and the scale (one minute of the report is MINUTE_MS here).
 * Refuses: to know how a host is wired.
 */

/** A minute of the day, scaled down so that a day fits into seconds. */
export const MINUTE_MS = 1_500;

/** The servers a host has configured in the morning, and after its list was reloaded. */
export const MORNING: readonly string[] = ['notes', 'search'];
const AFTERNOON: readonly string[] = ['notes', 'calendar'];

export type Step =
  /** An agent session starts, or reconnects: it lists the tools of every configured server. */
  | { do: 'connect'; agent: string }
  /** One tool call; the key is counted at the tool. */
  | { do: 'call'; agent: string; server: string; key: string }
  /** An agent session is over. */
  | { do: 'end'; agent: string }
  /** The list of servers is read again. */
  | { do: 'reload'; servers: readonly string[] }
  /** The server forgets the session that served this call. */
  | { do: 'expire'; key: string }
  | { do: 'wait'; ms: number }
  | { do: 'say'; text: string };

/** The plan. One agent works all day; others come and go, two at a time. */
export function planDay(): Step[] {
  const steps: Step[] = [];
  const calls = new Map<string, number>();
  let servers = MORNING;
  const running: string[] = [];

  const call = (agent: string, server: string): string => {
    const n = (calls.get(agent) ?? 0) + 1;
    calls.set(agent, n);
    const key = `${agent}.${n}`;
    steps.push({ do: 'call', agent, server, key });
    return key;
  };
  const work = (agent: string): string => servers.map((server) => call(agent, server))[0] as string;
  const errands = (from: number, to: number): void => {
    for (let n = from; n <= to; n++) {
      const agent = `agent-${n}`;
      steps.push({ do: 'connect', agent });
      running.push(agent);
      work(agent);
      steps.push({ do: 'wait', ms: 150 });
      work('lead');
      if (running.length < 2) continue;
      const done = running.shift() as string;
      work(done);
      steps.push({ do: 'end', agent: done });
    }
  };

  steps.push({ do: 'say', text: 'morning: a long session starts, short ones come and go' });
  steps.push({ do: 'connect', agent: 'lead' });
  work('lead');
  errands(1, 6);

  steps.push({ do: 'say', text: 'the long session reconnects' });
  steps.push({ do: 'connect', agent: 'lead' });
  work('lead');
  errands(7, 9);

  steps.push({ do: 'say', text: 'the list of servers is reloaded: one goes, one comes' });
  steps.push({ do: 'reload', servers: AFTERNOON });
  servers = AFTERNOON;
  const last = work('lead');
  errands(10, 11);

  steps.push({ do: 'say', text: 'the server forgets a session; its agent goes on calling' });
  steps.push({ do: 'expire', key: last });
  for (let n = 0; n < 4; n++) {
    steps.push({ do: 'wait', ms: 100 });
    work('lead');
  }
  errands(12, 13);
  steps.push({ do: 'wait', ms: 2 * MINUTE_MS });
  // Who is still there in the evening is at work: a session that nobody uses would rightly count as a ghost.
  for (const agent of ['lead', ...running]) work(agent);
  steps.push({ do: 'say', text: 'evening: SIGTERM' });
  return steps;
}

/** The keys of every call of the plan. */
export function plannedKeys(steps: readonly Step[]): string[] {
  return steps.flatMap((step) => (step.do === 'call' ? [step.key] : []));
}
