/**
 * The tools that every server of the tests offers, whatever it is built on.
 * Owns: names, descriptions, what they do and count.
 * Refuses: to know a library; each server registers them in its own way.
 */
import * as z from 'zod';
import type { ToolCounters } from './tool-counters.js';

/** What a tool may ask of the server that runs it. */
export interface ToolContext {
  counters: ToolCounters;
  /** Sends an elicitation on the call's own stream or on the listening one, and waits for the answer. */
  elicit(via: 'call' | 'stream', message: string): Promise<string>;
}

export interface TestTool {
  name: string;
  description: string;
  readOnly: boolean;
  input: z.ZodObject;
  run(args: Record<string, unknown>, context: ToolContext): Promise<string>;
}

const key = z.string().default('none');

export const TEST_TOOLS: readonly TestTool[] = [
  {
    name: 'echo',
    description: 'Says what it was told.',
    readOnly: false,
    input: z.object({ text: z.string().default(''), key }),
    async run(args, { counters }) {
      counters.ran('echo', String(args.key));
      return String(args.text);
    },
  },
  {
    name: 'count',
    description: 'Has a side effect: counts.',
    readOnly: false,
    input: z.object({ key }),
    async run(args, { counters }) {
      counters.ran('count', String(args.key));
      return `counted ${String(args.key)}`;
    },
  },
  {
    name: 'slow',
    description: 'Counts, then takes its time.',
    readOnly: false,
    input: z.object({ key, ms: z.number().default(200) }),
    async run(args, { counters }) {
      counters.ran('slow', String(args.key));
      await new Promise((resolve) => setTimeout(resolve, Number(args.ms)));
      return `slept ${String(args.key)}`;
    },
  },
  {
    name: 'lookup',
    description: 'Only reads.',
    readOnly: true,
    input: z.object({ key }),
    async run(args, { counters }) {
      counters.ran('lookup', String(args.key));
      return `looked up ${String(args.key)}`;
    },
  },
  {
    name: 'elicit',
    description: 'Asks the user, and says what the user answered.',
    readOnly: false,
    input: z.object({ key, via: z.enum(['call', 'stream']).default('call') }),
    async run(args, { counters, elicit }) {
      counters.ran('elicit', String(args.key));
      return elicit(args.via === 'stream' ? 'stream' : 'call', String(args.key));
    },
  },
];
