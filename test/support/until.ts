/**
 * Waits for a condition by polling. The error says what was waited for, so a test that hangs names itself.
 */
export interface UntilOptions {
  /** Gives up after this. @default 5000 */
  timeoutMs?: number;
  /** @default 10 */
  everyMs?: number;
}

/** Resolves with the first value of `condition` that is neither false, null nor undefined. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 5_000, everyMs = 10 }: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>;
    }
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await pause(everyMs);
  }
}

/** A plain pause, for "and nothing more happens". */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
