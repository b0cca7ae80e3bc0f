import { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serverRows } from '../servers/rows.js';

// The first public report's set-up, and the newest; test/interop/parts.mjs builds both.
for (const version of ['1.4.0', '1.8.0']) {
  const binary = fileURLToPath(new URL(`./.build/server-${version}`, import.meta.url));
  describe(`the Go SDK ${version}, with JSON answers`, { concurrency: 4 }, () => {
    serverRows({
      command: [binary],
      impatient: { command: [binary, '--session-timeout=1s'], timeoutMs: 1_000 },
    });
  });
}
