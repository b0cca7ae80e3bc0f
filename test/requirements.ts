/**
 * What Mooring must do, rule by rule, and where each rule comes from.
 * A test says `verifies('id')` in its body; requirements.test.ts fails when a rule has no test, and when a test
 * names a rule that is not here. Refuses: to say how; that is the test's.
 */

interface Requirement {
  /** Stable; `area/rule`. */
  id: string;
  /** Where the rule is written: a document of ours, a clause of the MCP specification, a report. */
  source: string;
  /** The rule, in one sentence. */
  sentence: string;
}

export const REQUIREMENTS = [
  {
    id: 'structure/imports-point-up',
    source: 'test/architecture/rules.ts',
    sentence:
      'A part of src/ imports only parts above it in the list of layers, and none that stands beside it.',
  },
  {
    id: 'structure/one-clock',
    source: 'src/clock.ts',
    sentence: 'Nothing but src/clock.ts reads the time or sets a timer.',
  },
  {
    id: 'structure/only-cli-prints',
    source: 'test/architecture/rules.ts',
    sentence: 'Nothing but src/cli prints or ends the process.',
  },
  {
    id: 'package/library-loads-no-more',
    source: 'README',
    sentence: 'Importing the library loads no command line, gateway, log or metrics code, and no SDK.',
  },
  {
    id: 'errors/documented',
    source: 'docs/errors.md',
    sentence: 'Each code is documented with its HTTP status and JSON-RPC code, and no other code is.',
  },
  {
    id: 'ending/one-delete',
    source: 'docs/lifecycle.md, Ending',
    sentence: 'close() ends a session with exactly one DELETE, and nothing is sent after it.',
  },
  {
    id: 'ending/drains',
    source: 'docs/lifecycle.md, Ending',
    sentence: 'close() refuses new work at once and waits for what is in flight.',
  },
  {
    id: 'ending/scope',
    source: 'docs/lifecycle.md, words',
    sentence: 'When a scope ends, its sessions end, and no others.',
  },
  {
    id: 'ending/reload',
    source: 'mooring/client, reload',
    sentence:
      'A reload ends the sessions of servers that went or changed; a change of bounds alone ends none.',
  },
  {
    id: 'ending/one-deadline',
    source: 'docs/lifecycle.md, Ending, report R011',
    sentence: 'A DELETE that hangs delays close() by its deadline and no more.',
  },
  {
    id: 'ending/unconfirmed-is-tried-again',
    source: 'docs/lifecycle.md, Ending',
    sentence:
      'An unconfirmed DELETE is tried three times more, with backoff and Retry-After, never in the way of a caller.',
  },
  {
    id: 'ending/what-confirms',
    source: 'docs/lifecycle.md, Ending, report R014',
    sentence: '2xx, 404, 405 and 501 confirm a DELETE; none follows.',
  },
  {
    id: 'ending/orphan-of-initialize',
    source: 'docs/lifecycle.md, Ending',
    sentence: 'An initialize that was given up and did get an id is ended too.',
  },
  {
    id: 'open/shared',
    source: 'mooring/client, scope',
    sentence: 'The same server and scope share one session, also when they ask at once.',
  },
  {
    id: 'refused/next-call-answers',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'After a 404, a restart, or a 400 that names the session, the next call answers; it ran once.',
  },
  {
    id: 'refused/one-reopen-for-all',
    source: 'docs/lifecycle.md, Refused, report R040',
    sentence: 'The first refusal of a generation starts one re-open that all callers share.',
  },
  {
    id: 'refused/reopens-are-paced-not-refused',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'Across handles the open limiter paces re-opens and refuses none.',
  },
  {
    id: 'refused/method-not-found-is-an-answer',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'A 404 whose body is -32601 is an answer.',
  },
  {
    id: 'refused/other-errors-keep-the-session',
    source: 'docs/lifecycle.md, Refused, report R047',
    sentence: 'A 500 or 503 fails the call and keeps the session.',
  },
  {
    id: 'refused/answers-belong-to-their-generation',
    source: 'docs/lifecycle.md, Refused',
    sentence:
      'An answer to a request of the server belongs to the generation that it came on, and is dropped with it.',
  },
  {
    id: 'refused/storm-guard',
    source: 'docs/lifecycle.md, Refused, report R071',
    sentence:
      'After two generations in a row refused within 30 s of birth, calls fail with MOORING_REOPEN_STORM.',
  },
  {
    id: 'lost/outcome-unknown',
    source: 'docs/lifecycle.md, Refused',
    sentence:
      'A call whose connection was lost is not repeated; its caller hears MOORING_OUTCOME_UNKNOWN at once.',
  },
  {
    id: 'lost/resumed',
    source: 'docs/lifecycle.md, Refused, report R077',
    sentence: 'A stream with event ids is resumed by GET with Last-Event-ID, not posted again.',
  },
  {
    id: 'lost/read-only-is-tried-again',
    source: 'docs/lifecycle.md, Refused, report R041',
    sentence: 'A call of a tool known to be read-only or idempotent is repeated after a lost connection.',
  },
  {
    id: 'lost/unwritten-is-tried-again',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'A failure before any byte was written is retried within the deadline of the caller.',
  },
  {
    id: 'listen/ended-stream-backs-off',
    source: 'docs/lifecycle.md, Listening stream, reports R022, R028',
    sentence: 'A stream that the server ends is asked for again with backoff, and not without work.',
  },
  {
    id: 'listen/not-offered',
    source: 'docs/lifecycle.md, Listening stream, report R026',
    sentence: '405, 406, 501, no event stream, 404 or 400 before one worked: never asked for again.',
  },
  {
    id: 'listen/off',
    source: 'mooring/client, listen',
    sentence: 'With listen off no stream is asked for.',
  },
  {
    id: 'listen/never-touches-calls',
    source: 'docs/lifecycle.md, Listening stream, report R025',
    sentence: 'The state of the stream never holds up a call.',
  },
  {
    id: 'listen/conflict-backs-off',
    source: 'docs/lifecycle.md, Listening stream, report R020',
    sentence: 'A 409 only backs off.',
  },
  {
    id: 'listen/before-the-first-byte-of-a-call',
    source: 'docs/lifecycle.md, Listening stream, report R080',
    sentence: 'For a client that may be asked, the stream is open before the first byte of a call.',
  },
  {
    id: 'listen/active',
    source: 'docs/lifecycle.md, Listening stream',
    sentence: 'The stream is open while the session works, and for streamIdleMs after.',
  },
  {
    id: 'listen/brings-notifications',
    source: 'MCP 2025-11-25, transports',
    sentence: 'What the server sends on the stream reaches the client.',
  },
  {
    id: 'listen/one-worker',
    source: 'docs/lifecycle.md, Listening stream',
    sentence: 'A POST that our stream starves is answered, and that server is left without a stream.',
  },
  {
    id: 'bounds/max-sessions',
    source: 'docs/lifecycle.md, Bounds',
    sentence: 'Never more than maxSessions are live for one server and principal.',
  },
  {
    id: 'bounds/first-come-first-served',
    source: 'docs/lifecycle.md, Bounds',
    sentence: 'Waiters are served first come first served; one that gives up leaves the line.',
  },
  {
    id: 'bounds/deadline-names-holders',
    source: 'docs/lifecycle.md, Bounds',
    sentence: 'A waiter past its deadline gets MOORING_POOL_EXHAUSTED, which names the holders.',
  },
  {
    id: 'bounds/retires-least-recently-used',
    source: 'mooring/client, scope',
    sentence: 'At the cap the least recently used session without a lease is retired, never a leased one.',
  },
  {
    id: 'bounds/opens-are-paced',
    source: 'docs/lifecycle.md, Bounds, report R031',
    sentence: 'When opens outpace ends, they back off.',
  },
  {
    id: 'bounds/retry-after-obeyed',
    source: 'docs/lifecycle.md, Bounds',
    sentence: 'Retry-After of a 429 or 503 is obeyed.',
  },
  {
    id: 'hops/cookies',
    source: 'docs/lifecycle.md, Hops',
    sentence: 'Cookies set on initialize stay with that session, on POST, GET and DELETE, and with no other.',
  },
  {
    id: 'hops/redirect-same-origin',
    source: 'docs/lifecycle.md, Hops',
    sentence: 'A 307 or 308 within the origin is followed once, method and body kept, and remembered.',
  },
  {
    id: 'hops/redirect-other-origin',
    source: 'docs/lifecycle.md, Hops',
    sentence: 'A redirect to another origin is refused.',
  },
  {
    id: 'hops/header-spelling',
    source: 'RFC 9110, 5.1',
    sentence: 'Names of headers and media types are read without regard to case.',
  },
  {
    id: 'auth/asked-for-each-request',
    source: 'mooring/client, headers, report R067',
    sentence: 'Credentials are asked for at every request, DELETE included.',
  },
  {
    id: 'auth/one-refresh',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'After a 401, one refresh is shared by all who wait.',
  },
  {
    id: 'auth/stays-wrong',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'A 401 that stays ends in an auth error, after one new session at most.',
  },
  {
    id: 'secrets/not-in-errors',
    source: 'docs/lifecycle.md, Principals and secrets, report R064',
    sentence: 'No id and no credential appears in an error.',
  },
  {
    id: 'stateless/passes-through',
    source: 'docs/lifecycle.md, Stateless',
    sentence: 'A server that issues no id passes through: no GET in vain, no DELETE, nothing invented.',
  },
  {
    id: 'stateless/2026-07-28',
    source: 'docs/lifecycle.md, Stateless',
    sentence: 'A server of 2026-07-28 is spoken to without sessions.',
  },
  {
    id: 'sse/as-the-standard-says',
    source: 'docs/lifecycle.md, SSE',
    sentence:
      'LF, CRLF and CR, cut anywhere, multi-line data, split UTF-8, comments and empty data are read as the standard says.',
  },
  {
    id: 'process-end/natural',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'An idle host with live sessions exits by itself, and they are ended.',
  },
  {
    id: 'process-end/exit',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'process.exit() ends every session and keeps its code.',
  },
  {
    id: 'process-end/uncaught',
    source: 'docs/lifecycle.md, Process end',
    sentence:
      'An uncaught error or unhandled rejection ends every session, with the stack and exit code of Node.',
  },
  {
    id: 'process-end/signal',
    source: 'docs/lifecycle.md, Process end, reports R010, R013',
    sentence: 'SIGTERM, SIGINT and SIGHUP end every session; the parent sees the true signal.',
  },
  {
    id: 'process-end/signal-exit',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'The same with signal-exit installed.',
  },
  {
    id: 'process-end/signal-is-the-hosts',
    source: 'docs/lifecycle.md, Process end',
    sentence: "A signal that the host listens to itself is the host's.",
  },
  {
    id: 'process-end/deadline',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'A server that does not answer keeps no process from ending.',
  },
  {
    id: 'process-end/not-counted',
    source: 'docs/lifecycle.md, Process end; @openai/agents 0.20',
    sentence: 'A host that ends at a signal only if nobody else listens ends as it would without Mooring.',
  },
  {
    id: 'process-end/constant-listeners',
    source: 'docs/lifecycle.md, Process end, report R013',
    sentence: 'One set of listeners, however many sessions and cycles.',
  },
  {
    id: 'process-end/pid-1',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'The same for PID 1 of a namespace.',
  },
  {
    id: 'property/outbound',
    source: 'docs/lifecycle.md, Outbound',
    sentence:
      'In any order of events: no two DELETEs at once for one id, none after a confirmed one, no open or resume after close began, no session that nothing will end, no answer of another generation, no tool run twice.',
  },
  {
    id: 'property/pool',
    source: 'docs/lifecycle.md, Bounds',
    sentence:
      'In any order of events the cap is never exceeded, waiters are served in order, and all is free in the end.',
  },
  {
    id: 'property/sse',
    source: 'docs/lifecycle.md, SSE; reports R097, R098',
    sentence: 'Events read the same with any line ends, cut anywhere.',
  },
  {
    id: 'refused/late-refusal',
    source: 'docs/lifecycle.md, Refused, report R040',
    sentence: 'A late refusal of an older generation never clears the newer one.',
  },
  {
    id: 'refused/older-streams-run-on',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'Calls that still stream on an older generation run on.',
  },
  {
    id: 'refused/failed-reopen-keeps-the-id',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'When a re-open fails, the old id is kept and tried first by the next call.',
  },
  {
    id: 'refused/restores-state',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'After a re-open the log level and the subscriptions are what they were.',
  },
  {
    id: 'answers/typed-errors',
    source: 'docs/errors.md, reports R035, R046',
    sentence: 'What is no answer fails the call at once with an error that says what it was.',
  },
  {
    id: 'listen/pinging-server-keeps-it',
    source: 'docs/lifecycle.md, Listening stream',
    sentence: 'A server that pings on its stream keeps it while the session lives.',
  },
  {
    id: 'listen/retry-honoured',
    source: 'docs/lifecycle.md, Listening stream',
    sentence: 'retry: is honoured.',
  },
  {
    id: 'listen/last-event-id',
    source: 'docs/lifecycle.md, Listening stream, report R079',
    sentence: 'The last event id is sent back after a break, and never on another session.',
  },
  {
    id: 'listen/suspect-404',
    source: 'docs/lifecycle.md, Listening stream, report R037',
    sentence: 'A 404 after a stream had worked is decided by one ping.',
  },
  {
    id: 'lists/gap-brings-one',
    source: 'docs/lifecycle.md, Listening stream',
    sentence:
      'After a gap in which nobody listened, the next work brings one list_changed of each declared kind, at most one in 10 min.',
  },
  {
    id: 'lists/real-one-is-told-to-all',
    source: 'docs/lifecycle.md, Listening stream',
    sentence: 'A list_changed seen on any session of a server and principal is given to all.',
  },
  {
    id: 'idle/ends-and-wakes',
    source: 'mooring/client, idleMs',
    sentence: 'A session without work for idleMs is ended; the next work opens another, unseen.',
  },
  {
    id: 'idle/not-in-flight',
    source: 'docs/lifecycle.md, Work',
    sentence: 'The idle clock stands still while anything is in flight.',
  },
  {
    id: 'idle/ping-is-no-work',
    source: 'docs/lifecycle.md, Work',
    sentence: 'A ping does not move the idle clock.',
  },
  {
    id: 'idle/sockets',
    source: 'docs/lifecycle.md, Bounds',
    sentence: 'Idle connections are dropped after 4 s.',
  },
  {
    id: 'lease/handle',
    source: 'mooring/client, Lease',
    sentence: 'A lease shows the session behind its client, is given back once, also when its user throws.',
  },
  {
    id: 'events/channels',
    source: 'mooring/client, Channels',
    sentence:
      'Each turn of a session is told on a diagnostics channel, with a fingerprint in place of its id.',
  },
  {
    id: 'process-end/latest-headers',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'The DELETEs of an exit carry the latest credentials and the cookies of each session.',
  },
  {
    id: 'process-end/proxy',
    source: 'mooring/client, Environment',
    sentence: 'HTTP_PROXY and NO_PROXY are honoured, at exit too.',
  },
  {
    id: 'process-end/in-flight-keeps-alive',
    source: 'docs/lifecycle.md, Process end',
    sentence: 'A request in flight keeps the process alive; a listening stream does not.',
  },
  {
    id: 'process-end/opening',
    source: 'docs/lifecycle.md, Ending',
    sentence: 'A signal during initialize leaves no orphan.',
  },
  {
    id: 'process-end/busy',
    source: 'docs/lifecycle.md, Process end',
    sentence:
      'A signal during a call ends the process by that signal, not by a rejection that nobody handles.',
  },
  {
    id: 'ending/left-behind',
    source: 'docs/lifecycle.md, Ending',
    sentence:
      'A session left behind by a 400, or whose successor died within 30 s, gets one best-effort DELETE.',
  },
  {
    id: 'refused/sent-again-once',
    source: 'docs/lifecycle.md, Refused',
    sentence: 'A refused request is sent again once, and no more.',
  },
  {
    id: 'auth/principals-never-share',
    source: 'docs/lifecycle.md, Refused; report R062',
    sentence:
      'No session serves two principals, and each is opened, used and ended with its own credentials.',
  },
  {
    id: 'auth/named-principal',
    source: 'README, Options of a server; report R067',
    sentence: 'Credentials that change by themselves share a session where the host says whose they are.',
  },
  {
    id: 'fetch/left-is-closed',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence:
      'A library that lets go of its stream, asks for none within 2 s and has nothing in flight is done: its session is ended, and opened again should it come back.',
  },
  {
    id: 'fetch/own-delete',
    source: 'docs/lifecycle.md, Through a fetch; report R014',
    sentence:
      'The DELETE of a library ends the session, and is answered as the real one was, 204 at the deadline, never with a failure.',
  },
  {
    id: 'fetch/aborted-initialize',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence: 'An initialize that the library aborts leaves no session behind.',
  },
  {
    id: 'fetch/closed',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence:
      'close() of a fetch ends every session that was opened through it, and nothing is opened after.',
  },
  {
    id: 'fetch/one-id',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence: 'The first id that the server issued stays the one of the library for good.',
  },
  {
    id: 'fetch/errors-in-json-rpc',
    source: 'docs/errors.md',
    sentence: 'Errors of Mooring reach the library as JSON-RPC errors for the posted id, with data.code.',
  },
  {
    id: 'fetch/status-is-the-libraries',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence: '401, 403 and what refuses an initialize reach the library as the server said them.',
  },
  {
    id: 'fetch/batch',
    source: 'MCP 2025-03-26',
    sentence: 'A batch is answered with one array.',
  },
  {
    id: 'fetch/every-shape',
    source: 'fetch standard',
    sentence: 'A URL, a Request, bytes and every shape of headers are understood alike.',
  },
  {
    id: 'fetch/bounded',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence:
      'At most maxSessions are open, and none longer idle than idleMs; what sleeps wakes with its next call.',
  },
  {
    id: 'fetch/stream-is-held-here',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence:
      'The GET of a library is held in its process; the server sees one stream at most, and none for a library that asked for none.',
  },
  {
    id: 'fetch/no-id',
    source: 'report R109',
    sentence: 'A server that issues no id gets no GET and no DELETE.',
  },
  {
    id: 'fetch/not-mcp',
    source: 'docs/lifecycle.md, Through a fetch',
    sentence: 'What is not a session of ours reaches the real fetch as it was given.',
  },
  {
    id: 'register/touches-nothing-else',
    source: 'docs/register.md',
    sentence: 'What is not MCP is the same byte for byte with the preload as without it.',
  },
  {
    id: 'register/off',
    source: 'docs/register.md',
    sentence: 'MOORING_OFF leaves the process as it is.',
  },
  {
    id: 'register/log',
    source: 'docs/register.md',
    sentence:
      'MOORING_LOG=1 says on stderr what was done, with fingerprints; a bad variable is told and ignored.',
  },
  {
    id: 'telemetry/durations',
    source: 'docs/telemetry.md',
    sentence:
      'Each request and each session is measured under the names of the semantic conventions, without ids.',
  },
  {
    id: 'register/http2',
    source: 'docs/register.md',
    sentence: 'A program that speaks HTTP/2 gets the same from it with the preload as without.',
  },
  {
    id: 'register/never-in-the-way',
    source: 'docs/register.md',
    sentence: 'A program whose Mooring cannot be loaded does what it did without.',
  },
  {
    id: 'register/undici',
    source: 'docs/register.md',
    sentence: "What goes through a program's own undici is kept like what goes through the global fetch.",
  },
  {
    id: 'register/once',
    source: 'docs/register.md',
    sentence: 'A request that passes Mooring twice is handled once.',
  },
  {
    id: 'cli/usage-is-2',
    source: 'docs/ledger.md, The command',
    sentence: 'What the command line does not understand ends with 2, said on stderr; stdout stays empty.',
  },
  {
    id: 'ledger/reclaims',
    source: 'DESIGN, Crashes',
    sentence: 'The next open to the same server and principal ends every session of a killed process.',
  },
  {
    id: 'ledger/spares-the-living',
    source: 'DESIGN, Crashes',
    sentence: 'No session of a live process is ended.',
  },
  {
    id: 'ledger/owner-only',
    source: 'DESIGN, Crashes',
    sentence: 'Folder and files are for their owner, hold no credential, and an empty file is removed.',
  },
  {
    id: 'ledger/reused-pid',
    source: 'DESIGN, Crashes',
    sentence: 'A process with the pid of a dead one, and another start time, does not keep its file.',
  },
  {
    id: 'ledger/other-namespace',
    source: 'DESIGN, Crashes',
    sentence: 'A file of another host, boot or pid namespace is dead after five minutes untouched.',
  },
  {
    id: 'ledger/one-claimant',
    source: 'DESIGN, Crashes',
    sentence: 'However many claim at once, each session gets one DELETE.',
  },
  {
    id: 'ledger/own-principal-only',
    source: 'DESIGN, Crashes',
    sentence: 'Sessions are ended with the credentials of their own principal only.',
  },
  {
    id: 'ledger/unconfirmed-stays',
    source: 'DESIGN, Crashes',
    sentence: 'A DELETE that is not confirmed leaves its entry for a later process.',
  },
  {
    id: 'ledger/garbage',
    source: 'docs/ledger.md',
    sentence: 'Garbage in a file is set aside; what can be read is used.',
  },
  {
    id: 'ledger/disk-faults',
    source: 'docs/ledger.md',
    sentence: 'A disk that fails costs one warning of the process, and nothing else.',
  },
  {
    id: 'ledger/confirmed-at-exit',
    source: 'DESIGN, Process end',
    sentence: 'DELETEs that are confirmed at the end of the process leave no file.',
  },
  {
    id: 'ledger/off',
    source: 'docs/ledger.md',
    sentence: 'ledger: false writes nothing.',
  },
  {
    id: 'run/ends-sessions',
    source: 'docs/register.md',
    sentence:
      'mooring run ends the sessions of a program whose code nobody changed, and keeps its exit code.',
  },
  {
    id: 'run/signals',
    source: 'docs/register.md',
    sentence: 'mooring run hands signals on, and ends with 128 + n.',
  },
  {
    id: 'run/any-path',
    source: 'docs/register.md',
    sentence: 'mooring run works from any folder and from any path.',
  },
  {
    id: 'run/keeps-node-options',
    source: 'docs/register.md',
    sentence: 'What NODE_OPTIONS holds stays, and the preload is added once.',
  },
  {
    id: 'run/custom-ca',
    source: 'docs/register.md',
    sentence:
      'NODE_EXTRA_CA_CERTS holds for every request of a session, also the DELETE at the end of the process.',
  },
  {
    id: 'run/proxy',
    source: 'docs/register.md',
    sentence: 'HTTP_PROXY is honoured by a program under mooring run.',
  },
  {
    id: 'run/usage',
    source: 'docs/register.md',
    sentence: 'Wrong usage ends with 2 and says what is right; a command that is missing with 127.',
  },
  {
    id: 'env/line',
    source: 'docs/register.md',
    sentence: 'mooring env prints a line for a shell, quoted, with what was there before.',
  },
  {
    id: 'cli/reclaim',
    source: 'docs/ledger.md, The command',
    sentence:
      'mooring reclaim ends what needs no credentials, and with --url what is told; it prints what it did as JSON.',
  },
  {
    id: 'cli/reclaim-keeps-credentials',
    source: 'docs/ledger.md, The command',
    sentence: 'No credential goes to a server that was not named; no id and no query is printed.',
  },
] as const satisfies readonly Requirement[];

export type RequirementId = (typeof REQUIREMENTS)[number]['id'];

const known: ReadonlySet<string> = new Set(REQUIREMENTS.map(({ id }) => id));

/** Says in a test which rule it holds Mooring to. The id is a literal, so that the coverage test can read it. */
export function verifies(id: RequirementId): void {
  if (!known.has(id)) throw new Error(`test/requirements.ts has no rule ${String(id)}`);
}
