/**
 * NODE_OPTIONS with the preload in it: what `mooring run` sets and `mooring env` prints.
 * Owns: the absolute path of the preload, quoted as Node reads it; what was there before stays, and comes first.
 * Refuses: `--import`, which takes a file URL but costs every Node process 5 to 10 ms before it begins.
 */
import { fileURLToPath } from 'node:url';

/** `--require="/.../preload.cjs"`; inside the quotes Node takes a backslash as the sign of what follows. */
function preloadOption(): string {
  const path = fileURLToPath(new URL('../client/register/preload.cjs', import.meta.url));
  return `--require="${path.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The value for a child process. A preload that is there already is not added again. */
export function withPreload(existing: string | undefined): string {
  const option = preloadOption();
  const given = existing?.trim() ?? '';
  if (given === '') return option;
  return given.includes(option) ? given : `${given} ${option}`;
}
