/** docs/clients.md holds what was measured: it is docs/clients.json, rendered. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { renderReport } from '../interop/clients/report.js';
import type { Report } from '../interop/clients/report.js';

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

it('docs/clients.md is what docs/clients.json renders to', () => {
  assert.equal(read('clients.md'), renderReport(JSON.parse(read('clients.json')) as Report));
});
