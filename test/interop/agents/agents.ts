/**
 * The agents that are driven, and what each needs to run without a network: where it is installed, its settings,
 * its environment and its arguments.
 * Owns: the differences between agents. Refuses: to install; a missing one fails with the line that does.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where an agent finds the two servers that it talks to. */
export interface Surroundings {
  /** The MCP endpoint. */
  mcpUrl: string;
  /** The origin of the scripted model. */
  modelOrigin: string;
}

export interface Agent {
  /** The folder beside this file that holds its package.json. */
  readonly name: string;
  /** Its script, inside that folder. */
  readonly script: string;
  /** The least major version of Node that it runs on. */
  readonly node: number;
  /** Files of its home, by path. */
  settings(around: Surroundings): Record<string, unknown>;
  env(around: Surroundings): Record<string, string>;
  args(prompt: string): string[];
}

const servers = ({ mcpUrl }: Surroundings, more: Record<string, unknown> = {}): unknown => ({
  lab: { httpUrl: mcpUrl, trust: true, ...more },
});

export const geminiCli: Agent = {
  name: 'gemini-cli',
  script: 'node_modules/@google/gemini-cli/bundle/gemini.js',
  node: 20,
  settings: (around) => ({
    '.gemini/settings.json': {
      mcpServers: servers(around),
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    },
  }),
  env: ({ modelOrigin }) => ({ GEMINI_API_KEY: 'mock', GOOGLE_GEMINI_BASE_URL: modelOrigin }),
  args: (prompt) => ['--skip-trust', '--approval-mode', 'yolo', '-m', 'gemini-2.5-flash', '-p', prompt],
};

export const qwenCode: Agent = {
  name: 'qwen-code',
  script: 'node_modules/@qwen-code/qwen-code/cli-entry.js',
  node: 22,
  settings: (around) => ({
    '.qwen/settings.json': {
      // Else its tools are behind a search that the script would have to play.
      mcpServers: servers(around, { alwaysLoadTools: true }),
      security: { auth: { selectedType: 'openai' } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    },
  }),
  env: ({ modelOrigin }) => ({
    OPENAI_API_KEY: 'mock',
    OPENAI_BASE_URL: `${modelOrigin}/v1`,
    OPENAI_MODEL: 'mock',
  }),
  args: (prompt) => ['--approval-mode', 'yolo', '-p', prompt],
};

/** The absolute path of the agent's script. */
export function installed(agent: Agent): string {
  const script = fileURLToPath(new URL(`${agent.name}/${agent.script}`, import.meta.url));
  if (existsSync(script)) return script;
  throw new Error(
    `${agent.name} is not installed. Get it with: npm ci --prefix test/interop/agents/${agent.name} --ignore-scripts --omit=optional --engine-strict=false`,
  );
}

const binaries = new Map<number, string>();

/** A Node that the agent runs on: this one when it is new enough, else the one that npm fetches. */
export function nodeFor({ node: major }: Agent): string {
  if (Number(process.versions.node.split('.')[0]) >= major) return process.execPath;
  const known = binaries.get(major);
  if (known !== undefined) return known;
  const args = ['-y', '-p', `node@${major}`, 'node', '-p', 'process.execPath'];
  const { status, stdout } = spawnSync('npx', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const binary = stdout?.trim().split('\n').at(-1) ?? '';
  if (status !== 0 || binary === '') {
    throw new Error(`no Node ${major}. Get it with: npx ${args.slice(0, 4).join(' ')} -v`);
  }
  binaries.set(major, binary);
  return binary;
}
