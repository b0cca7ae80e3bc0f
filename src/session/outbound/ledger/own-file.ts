/**
 * The one file that one ledger writes: a line for each session that is opened or settled.
 * Owns: being there exactly while something is in it, being touched, being rewritten after a failure.
 * Refuses: to throw; a disk that fails costs a warning and the memory of a crash, never the host's work.
 */
import { closeSync, constants, openSync, renameSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, type Timer, wallNow } from '../../../clock.js';
import { makeDirectory } from './directory.js';
import { headLine, keyOf, openedLine, settledLine, type StoredEntry } from './lines.js';
import { fileName, type NamedOwner, type Owner, placeOf, releasedName } from './owner.js';

export interface OwnFile {
  add(entries: readonly StoredEntry[]): void;
  remove(url: string, id: string): void;
  has(key: string): boolean;
  /** False when what is in memory may not be on the disk. */
  readonly isWritten: boolean;
  /** Name of the file, while there is one. */
  readonly name: string | undefined;
  /** Lets others have what is in it; what is settled later is still written down. */
  release(): void;
}

export interface OwnFileOptions {
  directory: string;
  owner: Owner;
  clock: Clock;
  onFault(error: unknown): void;
}

const TOUCH_MS = 15_000;
/** Lines beyond twice what is open, before the file is written anew. */
const SLACK_LINES = 256;

export function createOwnFile({ directory, owner, clock, onFault }: OwnFileOptions): OwnFile {
  const named: NamedOwner = { place: placeOf(owner), pid: owner.pid, start: owner.start };
  const open = new Map<string, StoredEntry>();
  let path: string | undefined;
  let lines = 0;
  let isWritten = true;
  let isReleased = false;
  let timer: Timer | undefined;

  const attempt = (run: () => void): void => {
    try {
      run();
      isWritten = true;
    } catch (error) {
      isWritten = false;
      onFault(error);
    }
  };

  /** The whole file, at once for whoever reads it. */
  const rewrite = (): void => {
    makeDirectory(directory);
    path ??= join(directory, fileName(named));
    const draft = `${path}.tmp`;
    const text = [headLine(owner), ...[...open.values()].map(openedLine)].join('');
    try {
      writeFileSync(draft, text, { mode: 0o600 });
      renameSync(draft, path);
    } catch (error) {
      forget(draft);
      throw error;
    }
    lines = open.size + 1;
    timer ??= clock.after(TOUCH_MS, touch);
  };

  const append = (text: string, count: number): void => {
    if (isReleased) {
      attempt(() => appendTo(path, text));
      return;
    }
    if (path === undefined || !isWritten || lines + count > 2 * open.size + SLACK_LINES) {
      attempt(rewrite);
      return;
    }
    attempt(() => {
      if (!appendTo(path, text)) rewriteElsewhere();
      else lines += count;
    });
  };

  /** Somebody took us for dead, or tidied up: what is open is still ours to end. */
  const rewriteElsewhere = (): void => {
    path = undefined;
    rewrite();
  };

  const touch = (): void => {
    timer = undefined;
    if (path === undefined || isReleased) return;
    if (!isWritten) attempt(rewrite);
    else {
      try {
        const now = wallNow() / 1_000;
        utimesSync(path, now, now);
      } catch {
        attempt(rewriteElsewhere);
      }
    }
    timer ??= clock.after(TOUCH_MS, touch);
  };

  return {
    add(entries) {
      if (entries.length === 0) return;
      if (isReleased) {
        // An answer to `initialize` that came after all was let go: it begins a file of its own.
        open.clear();
        path = undefined;
        isReleased = false;
      }
      for (const entry of entries) open.set(keyOf(entry), entry);
      append(entries.map(openedLine).join(''), entries.length);
    },
    remove(url, id) {
      if (!open.delete(keyOf({ url, id }))) return;
      if (open.size > 0) {
        append(settledLine(url, id), 1);
        return;
      }
      timer?.cancel();
      timer = undefined;
      if (path !== undefined) forget(path);
      path = undefined;
      isWritten = true;
    },
    has: (key) => open.has(key),
    get isWritten() {
      return isWritten;
    },
    get name() {
      return path?.slice(directory.length + 1);
    },
    release() {
      if (isReleased) return;
      isReleased = true;
      timer?.cancel();
      timer = undefined;
      if (path === undefined) return;
      const free = join(directory, releasedName(named));
      try {
        renameSync(path, free);
        path = free;
      } catch {
        // Then it is for whoever comes after this process.
      }
    },
  };
}

/** False when there is no such file (any more): nothing is made by that. */
function appendTo(path: string | undefined, text: string): boolean {
  if (path === undefined) return false;
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_APPEND);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
  return true;
}

function forget(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or not ours to remove: whoever reads it finds sessions that answer 404.
  }
}
