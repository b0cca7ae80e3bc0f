/** docs/errors.md against the table in src/errors.ts, in both directions. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CODES } from '../../src/errors.js';
import { verifies } from '../requirements.js';

const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
/** Code -> the section below its heading. */
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split('\n')[0]?.trim() ?? '', section] as const)
    .filter(([heading]) => heading.startsWith('MOORING_')),
);

describe('docs/errors.md', () => {
  it('has a section for each code, in the order of the table, and none for another', () => {
    verifies('errors/documented');
    assert.deepEqual([...sections.keys()], Object.keys(CODES));
  });

  for (const [code, { status, rpc }] of Object.entries(CODES)) {
    it(`${code}: HTTP status, JSON-RPC code, when, what to do`, () => {
      const section = sections.get(code) ?? '';
      const [, told, rpcTold] = /^HTTP (\d+), JSON-RPC (-\d+)$/m.exec(section) ?? [];
      assert.deepEqual({ status: Number(told), rpc: Number(rpcTold) }, { status, rpc });
      assert.match(section, /^When: \S/m);
      assert.match(section, /^What to do: \S/m);
    });
  }

  it('names no code that does not exist', () => {
    const known = new Set(Object.keys(CODES));
    assert.deepEqual(
      [...new Set(text.match(/\bMOORING_[A-Z_]+[A-Z]\b/g))].filter((code) => !known.has(code)),
      [],
    );
  });
});
