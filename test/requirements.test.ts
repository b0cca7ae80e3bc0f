/** Every rule of requirements.ts has a test, and every test names a rule that exists. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { blankText, lineAt } from './architecture/source-text.js';
import { REQUIREMENTS } from './requirements.js';

const root = fileURLToPath(new URL('.', import.meta.url));

/** Each `verifies(...)` of the test files, comments and strings aside; `id` is undefined if it is no literal. */
function calls(): { at: string; id: string | undefined }[] {
  const found: { at: string; id: string | undefined }[] = [];
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !entry.name.endsWith('.test.ts')) continue;
    const source = readFileSync(path, 'utf8');
    for (const match of blankText(source).matchAll(/\bverifies\(/g)) {
      const id = /^\s*(['"])(.*?)\1\s*,?\s*\)/.exec(source.slice(match.index + match[0].length))?.[2];
      found.push({ at: `${relative(root, path)}:${lineAt(source, match.index)}`, id });
    }
  }
  return found;
}

const listed: readonly string[] = REQUIREMENTS.map(({ id }) => id);

it('lists each rule once', () => {
  assert.deepEqual(
    listed.filter((id, i) => listed.indexOf(id) !== i),
    [],
  );
});

it('has a test for every rule', () => {
  const verified = new Set(calls().map(({ id }) => id));
  assert.deepEqual(
    listed.filter((id) => !verified.has(id)),
    [],
  );
});

it('knows every rule that a test names', () => {
  assert.deepEqual(
    calls().filter(({ id }) => id === undefined || !listed.includes(id)),
    [],
  );
});
