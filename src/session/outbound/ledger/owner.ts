/**
 * Which process a ledger file belongs to, and whether that one is gone.
 * Owns: the names of files, which say host, boot, pid namespace, pid and start time; the rule of who is dead.
 * Refuses: to judge a process of another host, boot or namespace by its pid.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { wallNow } from '../../../clock.js';

/** One process, as nobody else is called. */
export interface Owner {
  host: string;
  boot: string;
  /** Pid namespace; 'none' where there are none. */
  namespace: string;
  pid: number;
  /** Start time in clock ticks after the boot; 'unknown' where the system does not tell. */
  start: string;
}

/** What the name of a file says. */
export interface NamedOwner {
  /** Hash of host, boot and namespace. */
  place: string;
  pid: number;
  start: string;
}

/** A file of another host, boot or namespace is dead when it was not touched for this long, ms. */
export const UNTOUCHED_MS = 5 * 60_000;
/** Where start times are unknown a pid may have been given to another process, ms. */
const REUSED_MS = 24 * 60 * 60_000;
/** Start time of a file whose process lives but has let go of it. */
const RELEASED = 'released';
const UNKNOWN = 'unknown';

const NAME = /^([0-9a-f]{12})-(\d{1,10})-(\d+|released|unknown)-[0-9a-f]{12}\.jsonl$/;

export function thisProcess(): Owner {
  return {
    host: hostname(),
    boot: read('/proc/sys/kernel/random/boot_id') ?? bootHash(),
    namespace: pidNamespace(),
    pid: process.pid,
    start: startOf('self') ?? UNKNOWN,
  };
}

/** Where pids mean the same process. */
export function placeOf({ host, boot, namespace }: Owner): string {
  return createHash('sha256')
    .update(JSON.stringify([host, boot, namespace]))
    .digest('hex')
    .slice(0, 12);
}

/** A name that no other file has. */
export function fileName({ place, pid, start }: NamedOwner): string {
  return `${place}-${pid}-${start}-${randomBytes(6).toString('hex')}.jsonl`;
}

/** The same for a file that its process, though alive, does not answer for any more. */
export function releasedName(owner: NamedOwner): string {
  return fileName({ ...owner, start: RELEASED });
}

/** Undefined: no file of the ledger's. */
export function ownerOfFile(name: string): NamedOwner | undefined {
  const [, place, pid, start] = NAME.exec(name) ?? [];
  if (place === undefined || pid === undefined || start === undefined) return undefined;
  return { place, pid: Number(pid), start };
}

/** `touchedAt`: when the file was last touched, ms since 1970. */
export function isDead(
  { place, pid, start }: NamedOwner,
  herePlace: string,
  touchedAt: () => number,
): boolean {
  if (start === RELEASED) return true;
  if (place !== herePlace) return wallNow() - touchedAt() > UNTOUCHED_MS;
  if (start === UNKNOWN) return !isRunning(pid) || wallNow() - touchedAt() > REUSED_MS;
  return startOf(pid) !== start;
}

/** Field 22 of /proc/PID/stat; undefined: no such process, or no /proc. */
function startOf(pid: number | 'self'): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, which may hold spaces and parentheses itself.
  const start = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return start !== undefined && /^\d+$/.test(start) ? start : undefined;
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 is none: it only asks.
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'none';
  }
}

/** Two processes may round to different minutes; then each is a stranger to the other, and the slow rule applies. */
function bootHash(): string {
  const minute = Math.round((wallNow() / 1_000 - uptime()) / 60);
  return createHash('sha256').update(`${hostname()} ${minute}`).digest('hex');
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
