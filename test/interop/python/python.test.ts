import { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serverRows } from '../servers/rows.js';

const server = fileURLToPath(new URL('./server.py', import.meta.url));

for (const major of [1, 2]) {
  // test/interop/parts.mjs makes both environments.
  const python = fileURLToPath(new URL(`./.build/venv-${major}/bin/python`, import.meta.url));
  describe(`the Python SDK, newest of major ${major}`, { concurrency: 4 }, () => {
    serverRows({
      command: [python, server],
      impatient: { command: [python, server, '--session-timeout=1'], timeoutMs: 1_000 },
    });
  });
}
