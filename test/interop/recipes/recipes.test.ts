/** Each recipe, as a user runs it: `npm start -- URL`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertAllEnded, confirmedDeletes } from '../../support/ended.js';
import { startSdkServer } from '../../support/sdk-server.js';

const RECIPES = fileURLToPath(new URL('../../../recipes/', import.meta.url));
const names = readdirSync(RECIPES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map(({ name }) => name);

function start(name: string, url: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('npm', ['start', '--silent', '--', url, 'count', '{"key":"recipe"}'], {
    cwd: `${RECIPES}${name}`,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      MCP_USE_ANONYMIZED_TELEMETRY: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

describe('a recipe runs, ends by itself, and leaves nothing on the server', { concurrency: 2 }, () => {
  for (const name of names) {
    it(name, async (t) => {
      const server = await startSdkServer({ major: 1 });
      t.after(() => server.stop());
      const { code, stdout, stderr } = await start(name, server.url);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^tools: .*count.*\ncount: .*counted recipe.*\nclosed$/m);
      assert.equal(server.tools.runs('recipe'), 1);
      assert.equal(server.log.count({ rpc: 'initialize' }), 1);
      assert.equal(confirmedDeletes(server), 1);
      await assertAllEnded(server);
    });
  }
});
