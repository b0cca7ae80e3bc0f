/**
 * The parts of `npm run test:interop`: what each needs beside Node and npm, and where its tests are.
 * Owns: the list. Refuses: to run anything; scripts/interop.mjs does.
 *
 *   node      the least major version that what is tested runs on; npm fetches one where Node is older
 *   tools     `{ command, get }`: what must be on PATH, and the one line that installs it
 *   installs  see installs.mjs
 *   tests     a folder: every *.test.ts directly in it
 */
import { debian, goBuild, npmCi, ownPackage, pythonVenv } from './installs.mjs';

const RECIPES = ['ai-sdk', 'langchain', 'mastra', 'mcp-use', 'openai-agents'];
const recipes = [ownPackage('recipes'), ...RECIPES.map((name) => npmCi(`recipes/${name}`))];

export const PARTS = [
  {
    name: 'recipes',
    about: 'the recipes, as a user runs them',
    node: 22,
    tools: [],
    installs: recipes,
    tests: 'test/interop/recipes',
  },
  {
    name: 'clients',
    about: 'client libraries, bare beside Mooring, against servers that go wrong',
    node: 22,
    tools: [],
    installs: recipes,
    tests: 'test/interop/clients',
  },
  {
    name: 'agents',
    about: 'real agents, driven offline by a scripted model',
    node: 22,
    tools: [],
    installs: ['gemini-cli', 'qwen-code'].map((name) => npmCi(`test/interop/agents/${name}`)),
    tests: 'test/interop/agents',
  },
  {
    name: 'go',
    about: 'the Go SDK, of the first public report and the newest, with its session timer',
    node: 20,
    tools: [{ command: 'go', get: 'https://go.dev/dl/ (1.25 or later), or: apt-get install -y golang' }],
    installs: [
      goBuild('test/interop/go', 'go.mod', '.build/server-1.4.0'),
      goBuild('test/interop/go', 'newest.mod', '.build/server-1.8.0'),
    ],
    tests: 'test/interop/go',
  },
  {
    name: 'python',
    about: 'the Python SDK, newest of both majors, with its idle timeout and without',
    node: 20,
    tools: [{ command: 'python3', get: 'apt-get install -y python3 python3-venv' }],
    installs: [1, 2].map((major) =>
      pythonVenv('test/interop/python', `requirements-${major}.txt`, `.build/venv-${major}`),
    ),
    tests: 'test/interop/python',
  },
  {
    name: 'php',
    about: 'PHP-FPM behind nginx, the set-up of the second public report: who holds its workers',
    node: 20,
    tools: [],
    installs: [debian(['php-fpm', 'nginx-light'], [/^nginx$/, /^php-fpm[\d.]+$/])],
    tests: 'test/interop/php',
  },
];
