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
] as const satisfies readonly Requirement[];

export type RequirementId = (typeof REQUIREMENTS)[number]['id'];

const known: ReadonlySet<string> = new Set(REQUIREMENTS.map(({ id }) => id));

/** Says in a test which rule it holds Mooring to. The id is a literal, so that the coverage test can read it. */
export function verifies(id: RequirementId): void {
  if (!known.has(id)) throw new Error(`test/requirements.ts has no rule ${String(id)}`);
}
