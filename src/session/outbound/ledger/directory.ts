/**
 * The folder of the ledger: where it is, owner-only, and the key of its fingerprints.
 * Owns: the key file, made once however many processes start together.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const KEY_FILE = 'principal.key';
const KEY_HEX = /^[0-9a-f]{64}$/;

/** The folder that is used where none is given. */
export function defaultDirectory(
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const given = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  const told = given('MOORING_LEDGER_DIR');
  if (told !== undefined) return resolve(told);
  const tail = join('mooring', 'ledger');
  if (platform === 'win32') return join(given('LOCALAPPDATA') ?? join(homedir(), 'AppData', 'Local'), tail);
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', tail);
  return join(given('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), tail);
}

/** Makes the folder, for its owner alone. Throws what the file system throws. */
export function makeDirectory(directory: string): void {
  const isNew = mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined;
  // A umask may have taken bits away, never added them; but some mounts ignore the mode.
  if (isNew) chmodSync(directory, 0o700);
}

/** The key that all processes with this folder share. Throws what the file system throws. */
export function readKey(directory: string): Buffer {
  const path = join(directory, KEY_FILE);
  for (let tries = 0; ; tries += 1) {
    const text = readIfThere(path);
    if (text !== undefined && KEY_HEX.test(text)) return Buffer.from(text, 'hex');
    if (tries > 3) throw new Error(`${path} cannot be read as a key`);
    // Set aside: sessions under the old key are for `mooring reclaim` and the servers' own clocks.
    if (text !== undefined) ignoring(() => renameSync(path, `${path}.garbage`));
    makeKey(path);
  }
}

/** Whole or not at all: who reads it in between must not find half a key. */
function makeKey(path: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    // Somebody else was first, or the file system has no links.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(draft, path);
  } finally {
    ignoring(() => unlinkSync(draft));
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function ignoring(run: () => void): void {
  try {
    run();
  } catch {
    // It was gone already.
  }
}
