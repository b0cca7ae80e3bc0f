/** docs/agents.md holds what was measured: it is docs/agents.json, rendered; and the versions are those installed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { renderReport } from './report.js';
import type { AgentReport } from './report.js';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const report = JSON.parse(read('../../../docs/agents.json')) as AgentReport;

it('docs/agents.md is what docs/agents.json renders to', () => {
  assert.equal(read('../../../docs/agents.md'), renderReport(report));
});

it('docs/agents.json is of the versions that are pinned', () => {
  for (const name of ['gemini-cli', 'qwen-code']) {
    const { dependencies } = JSON.parse(read(`${name}/package.json`)) as {
      dependencies: Record<string, string>;
    };
    for (const [agent, version] of Object.entries(dependencies)) {
      assert.equal(report.agents.find((one) => one.package === agent)?.version, version);
    }
  }
});
