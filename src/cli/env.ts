/**
 * `mooring env`: the line that brings Mooring into every Node program of a shell.
 */
import { withPreload } from './node-options.js';

/** `export NODE_OPTIONS='...'`, for sh, bash and zsh. */
export function envLine(existing: string | undefined): string {
  return `export NODE_OPTIONS='${withPreload(existing).replaceAll("'", "'\\''")}'`;
}
