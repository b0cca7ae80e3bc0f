/**
 * Keeps lists fresh although nobody listens all the time, for one server and principal.
 * Owns: who is listening, whether there was a gap, when a list_changed of a kind was last made up.
 * Refuses: more than one of a kind in 10 minutes, and any that a re-list itself would cause.
 */
import type { Clock } from '../../clock.js';

export type ListKind = 'tools' | 'resources' | 'prompts';

const KINDS: readonly ListKind[] = ['tools', 'resources', 'prompts'];
const SYNTHETIC_EVERY_MS = 10 * 60_000;

export interface ListChanges {
  join(member: Member): () => void;
  /** A listening stream of this server and principal opened; the result is called when it closes. */
  listening(): () => void;
  /** A session has nothing in flight and no stream: changes from now on go unheard. */
  unheard(): void;
  /** Work begins on a session of this member; brings what a gap may have hidden, to all whom it may have. */
  workBegins(method: string, by: Member): void;
  /** A server said that a list changed: told to every member that does not listen itself. */
  heard(kind: ListKind, by: Member): void;
}

export interface Member {
  /** Kinds whose changes the server declared for this session. */
  declares(kind: ListKind): boolean;
  /** Its own listening stream is open, so the server tells it directly. */
  isListening(): boolean;
  /** Deliver one `notifications/KIND/list_changed` to the host. */
  tell(kind: ListKind): void;
}

/** The kind that a list_changed notification is about. */
export function listKindOf(method: string): ListKind | undefined {
  return KINDS.find((kind) => method === `notifications/${kind}/list_changed`);
}

export function createListChanges(clock: Clock): ListChanges {
  /** Each member, and the kinds that may have changed without its knowing. */
  const members = new Map<Member, Set<ListKind>>();
  const lastMadeUp = new Map<ListKind, number>();
  let listeners = 0;

  const markGap = (): void => {
    if (listeners > 0) return;
    for (const stale of members.values()) for (const kind of KINDS) stale.add(kind);
  };

  return {
    join(member) {
      members.set(member, new Set());
      return () => members.delete(member);
    },
    listening() {
      listeners += 1;
      let over = false;
      return () => {
        if (over) return;
        over = true;
        listeners -= 1;
        markGap();
      };
    },
    unheard: markGap,
    workBegins(method, by) {
      if (method.endsWith('/list')) {
        // This very request brings its list up to date, for this member; the rest is told with other work.
        const listed = KINDS.find((kind) => method === `${kind}/list`);
        if (listed !== undefined) members.get(by)?.delete(listed);
        return;
      }
      for (const kind of KINDS) {
        const last = lastMadeUp.get(kind);
        if (last !== undefined && clock.now() - last < SYNTHETIC_EVERY_MS) continue;
        let told = false;
        for (const [member, stale] of members) {
          if (!stale.has(kind) || !member.declares(kind)) continue;
          stale.delete(kind);
          member.tell(kind);
          told = true;
        }
        if (told) lastMadeUp.set(kind, clock.now());
      }
    },
    heard(kind, by) {
      for (const member of members.keys()) {
        if (member !== by && !member.isListening() && member.declares(kind)) member.tell(kind);
      }
    },
  };
}
