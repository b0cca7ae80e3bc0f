/**
 * What must be released together: the resources of one reservation, then of the session it became.
 * Owns: running every release exactly once, in reverse order, also when one of them throws or rejects.
 * Refuses: to keep anything that comes too late. A resource added after the end is released on the spot, so a
 * creation that outlives its session leaks nothing (report R055).
 */

/** Gives one resource back. What it throws, or rejects with, is reported and stops no other release. */
export type Release = () => void | Promise<void>;

export interface Owned {
  /** Takes a resource. The returned function gives it up without releasing it. */
  add(release: Release): () => void;
  /** Releases everything, once; later additions are released at once. */
  releaseAll(): void;
}

export interface OwnedHooks {
  /** A release threw or rejected. */
  onError: (error: unknown) => void;
  /** A release takes its time; the promise never rejects. */
  onPending: (settled: Promise<void>) => void;
}

export function createOwned({ onError, onPending }: OwnedHooks): Owned {
  const releases = new Set<{ run: Release }>();
  let isReleased = false;

  const run = (release: Release): void => {
    try {
      const result = release();
      if (result instanceof Promise) onPending(result.catch(onError));
    } catch (error) {
      onError(error);
    }
  };

  return {
    add(release) {
      if (isReleased) {
        run(release);
        return () => {};
      }
      const entry = { run: release };
      releases.add(entry);
      return () => {
        releases.delete(entry);
      };
    },
    releaseAll() {
      if (isReleased) return;
      isReleased = true;
      const inReverse = [...releases].reverse();
      releases.clear();
      for (const entry of inReverse) run(entry.run);
    },
  };
}
