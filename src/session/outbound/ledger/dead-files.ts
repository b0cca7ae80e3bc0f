/**
 * What dead processes left in the folder: finding it, and taking it by one atomic rename.
 * Owns: that two claimants never get the same session, that what one does not want is there for the next.
 * Refuses: the files of live processes; to stop at garbage, which is set aside.
 */
import {
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { wallNow } from '../../../clock.js';
import { type Contents, GIVEN_UP_MS, keyOf, openedLine, readLines, type StoredEntry } from './lines.js';
import { fileName, isDead, type NamedOwner, ownerOfFile } from './owner.js';

export interface Claimant {
  directory: string;
  me: NamedOwner;
  /** Garbage was set aside, or the file system failed. */
  onFault(error: unknown): void;
}

interface FoundFile {
  name: string;
  path: string;
  owner: NamedOwner;
  touchedAt: number;
  contents: Contents;
}

/** A file that is longer was not written by us. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Sessions in files of dead processes; nothing is taken. */
export function listDead(claimant: Claimant): StoredEntry[] {
  return findFiles(claimant, true).flatMap(({ contents }) => contents.entries.filter(isFresh));
}

/**
 * Takes the sessions that `wants` names; `adopt` must have written them down when it returns true.
 * What a live process holds as well (a server may issue an id again) is dropped.
 */
export function claimDead(
  claimant: Claimant,
  wants: (entry: StoredEntry) => boolean,
  adopt: (entries: StoredEntry[]) => boolean,
): void {
  let live: Set<string> | undefined;
  for (const file of findFiles(claimant, true)) {
    const { entries, garbage } = file.contents;
    if (entries.filter(isFresh).length === 0) {
      if (garbage > 0) setAside(claimant, file);
      else ignoring(() => unlinkSync(file.path));
      continue;
    }
    if (!entries.some((entry) => isFresh(entry) && wants(entry))) continue;
    live ??= new Set(findFiles(claimant, false).flatMap(({ contents }) => contents.entries.map(keyOf)));
    const known = live;
    const taken = take(claimant, file, wants);
    if (taken === undefined) continue;
    const isAdopted = adopt(taken.entries.filter((entry) => !known.has(keyOf(entry))));
    // Not written down: the file bears our name, and is for whoever comes after us.
    if (isAdopted) ignoring(() => unlinkSync(taken.path));
  }
}

/** Undefined: somebody else was first. */
function take(
  claimant: Claimant,
  file: FoundFile,
  wants: (entry: StoredEntry) => boolean,
): { path: string; entries: StoredEntry[] } | undefined {
  const { directory, me, onFault } = claimant;
  const path = join(directory, fileName(me));
  try {
    // First of all: under our name, and old, it would be a dead one's to another namespace.
    const now = wallNow() / 1_000;
    utimesSync(file.path, now, now);
    renameSync(file.path, path);
  } catch {
    return undefined;
  }
  try {
    // Between our look and the rename its process may have written after all.
    const { entries, garbage } = readLines(readFileSync(path, 'utf8'));
    if (garbage > 0) {
      copyFileSync(path, `${file.path}.garbage`);
      onFault(new Error(`${garbage} lines of ${file.name} mean nothing; they were set aside`));
    }
    const fresh = entries.filter(isFresh);
    leave(
      claimant,
      file,
      fresh.filter((entry) => !wants(entry)),
    );
    return { path, entries: fresh.filter(wants) };
  } catch (error) {
    onFault(error);
    ignoring(() => renameSync(path, file.path));
    return undefined;
  }
}

/** What is for others stays where they look: in a file of the same dead process, as old as it was. */
function leave({ directory }: Claimant, { owner, touchedAt }: FoundFile, entries: StoredEntry[]): void {
  if (entries.length === 0) return;
  const path = join(directory, fileName(owner));
  const draft = `${path}.tmp`;
  try {
    writeFileSync(draft, entries.map(openedLine).join(''), { mode: 0o600 });
    utimesSync(draft, touchedAt / 1_000, touchedAt / 1_000);
    renameSync(draft, path);
  } catch (error) {
    ignoring(() => unlinkSync(draft));
    throw error;
  }
}

function setAside({ onFault }: Claimant, { path, name }: FoundFile): void {
  try {
    renameSync(path, `${path}.garbage`);
    onFault(new Error(`${name} holds nothing that can be read; it was set aside`));
  } catch {
    // Somebody else did.
  }
}

function findFiles({ directory, me }: Claimant, dead: boolean): FoundFile[] {
  const found: FoundFile[] = [];
  for (const name of namesIn(directory)) {
    const owner = ownerOfFile(name);
    if (owner === undefined) {
      if (dead) sweepDraft(directory, name, me);
      continue;
    }
    const path = join(directory, name);
    try {
      const { mtimeMs, size } = statSync(path);
      if (isDead(owner, me.place, () => mtimeMs) !== dead) continue;
      const contents = size > MAX_BYTES ? { entries: [], garbage: 1 } : readLines(readFileSync(path, 'utf8'));
      found.push({ name, path, owner, touchedAt: mtimeMs, contents });
    } catch {
      // It went in between, or belongs to another user.
    }
  }
  return found;
}

/** A draft whose process was killed before it became a file. */
function sweepDraft(directory: string, name: string, me: NamedOwner): void {
  if (!name.endsWith('.tmp')) return;
  const owner = ownerOfFile(name.slice(0, -'.tmp'.length));
  if (owner === undefined) return;
  ignoring(() => {
    const path = join(directory, name);
    const { mtimeMs } = statSync(path);
    // A claimant writes drafts under the name of the dead.
    if (wallNow() - mtimeMs > GIVEN_UP_MS && isDead(owner, me.place, () => mtimeMs)) unlinkSync(path);
  });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isFresh({ at }: StoredEntry): boolean {
  return wallNow() - at < GIVEN_UP_MS;
}

function ignoring(run: () => void): void {
  try {
    run();
  } catch {
    // Somebody else did it.
  }
}
