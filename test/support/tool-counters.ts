/**
 * What ran at the tools, by the caller's key: "executed twice" and "lost" are counted here, not at the client.
 */
export interface ToolCounters {
  /** A tool began to run for a key. */
  ran(tool: string, key: string): void;
  /** How often a tool ran for a key. */
  runs(key: string): number;
  /** All runs. */
  readonly total: number;
  /** Keys that ran more than once. */
  twice(): string[];
  /** Those of `keys` that never ran. */
  lost(keys: Iterable<string>): string[];
}

export function createToolCounters(): ToolCounters {
  const runs = new Map<string, number>();
  let total = 0;
  return {
    ran(_tool, key) {
      total += 1;
      runs.set(key, (runs.get(key) ?? 0) + 1);
    },
    runs: (key) => runs.get(key) ?? 0,
    get total() {
      return total;
    },
    twice: () => [...runs].filter(([, n]) => n > 1).map(([key]) => key),
    lost: (keys) => [...keys].filter((key) => !runs.has(key)),
  };
}
