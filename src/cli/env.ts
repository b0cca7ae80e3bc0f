/**
 * `mooring env`: the line that brings Mooring into every Node program of a shell.
 */
import { defineCommand } from 'citty';
import { readFlags } from './flags.js';
import { withPreload } from './node-options.js';

export const env = defineCommand({
  meta: {
    name: 'env',
    description: 'Prints the NODE_OPTIONS line for a shell: eval "$(mooring env)"',
  },
  args: {
    json: { type: 'boolean', description: 'Print { "NODE_OPTIONS": ... } instead' },
  },
  run({ rawArgs }) {
    const { json = false } = readFlags(rawArgs, { json: { type: 'boolean' } });
    const value = withPreload(process.env.NODE_OPTIONS);
    // For sh, bash and zsh.
    const line = `export NODE_OPTIONS='${value.replaceAll("'", "'\\''")}'`;
    process.stdout.write(`${json ? JSON.stringify({ NODE_OPTIONS: value }) : line}\n`);
    return 0;
  },
});
