/**
 * The client libraries that are driven, and the ways in which Mooring comes into each.
 * Owns: the list; versions are those that the recipes pin. Refuses: to know how a library is used (drivers/).
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `bare`: without Mooring. `register`: with it preloaded, as `mooring run` does. */
export type Way = 'bare' | 'createFetch' | 'register';

export interface Library {
  /** Its folder below recipes/, and its file below drivers/. */
  readonly folder: string;
  readonly package: string;
  readonly version: string;
  readonly ways: readonly Way[];
}

const RECIPES = fileURLToPath(new URL('../../../recipes/', import.meta.url));

function library(folder: string, name: string, ways: readonly Way[]): Library {
  const manifest = JSON.parse(readFileSync(`${RECIPES}${folder}/package.json`, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return { folder, package: name, version: manifest.dependencies[name] ?? 'unknown', ways };
}

const ALL: readonly Way[] = ['bare', 'createFetch', 'register'];

export const LIBRARIES: readonly Library[] = [
  library('ai-sdk', '@ai-sdk/mcp', ALL),
  library('openai-agents', '@openai/agents', ALL),
  library('mastra', '@mastra/mcp', ALL),
  library('mcp-use', 'mcp-use', ALL),
  library('langchain', '@langchain/mcp-adapters', ['bare', 'register']),
];
