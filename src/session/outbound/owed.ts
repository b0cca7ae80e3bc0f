/**
 * Sessions of this process that some DELETE still has to end: what the end of the process looks at.
 * Owns: one entry from the moment the server issued an id until a DELETE, or the server's own 404, settles it.
 */
export interface Owed<T> {
  /** The server at `url` issued this id. */
  add(url: string, id: string, target: T): void;
  settle(url: string, id: string): void;
  targets(): T[];
  readonly size: number;
}

/** `onEmpty` runs each time the last entry was settled. */
export function createOwed<T>(onEmpty: () => void): Owed<T> {
  const open = new Map<string, T>();
  // Two servers may issue the same id.
  const keyOf = (url: string, id: string): string => `${url} ${id}`;
  return {
    add: (url, id, target) => open.set(keyOf(url, id), target),
    settle(url, id) {
      if (open.delete(keyOf(url, id)) && open.size === 0) onEmpty();
    },
    targets: () => [...open.values()],
    get size() {
      return open.size;
    },
  };
}
