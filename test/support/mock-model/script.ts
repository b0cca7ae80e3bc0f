/**
 * What the scripted model says, whatever API it is asked through.
 * Owns: the turns and their order, which requests are auxiliary, the names of the tools as the agent offers them.
 * Refuses: to know a wire format; each API has a file that reads its requests and writes its replies.
 */
import type { ServerResponse } from 'node:http';

/** One answer of the model to the agent: a text, or tool calls. */
export interface Turn {
  text?: string;
  calls?: readonly TurnCall[];
  /** Runs before the first byte of the answer: the place to restart a server, or to hold the turn. */
  before?: () => void | Promise<void>;
}

export interface TurnCall {
  /** As the MCP server names the tool; the agent may offer it as `mcp_server_name` or the like. */
  name: string;
  args: Record<string, unknown>;
}

export interface OfferedTool {
  name: string;
  /** Only the Responses API has it. */
  namespace?: string;
}

/** A request to the model, of any API. */
export interface ModelRequest {
  model: string;
  stream: boolean;
  tools: readonly OfferedTool[];
  /** The JSON schema that the answer must follow, when there is one; `{}` for any JSON. */
  schema: unknown;
  /** What the tools answered, in order: all that the conversation holds. */
  results: readonly string[];
}

export interface ReplyCall extends OfferedTool {
  id: string;
  args: Record<string, unknown>;
}

export interface Reply {
  id: string;
  text: string;
  calls: readonly ReplyCall[];
}

/** One wire format. */
export interface ModelApi {
  readonly name: string;
  /** Undefined when the path is not of this API. */
  read(path: string, body: Json): ModelRequest | undefined;
  write(res: ServerResponse, request: ModelRequest, reply: Reply): void;
}

/** A parsed JSON object, looked into without a schema. */
export type Json = Record<string, unknown>;

export interface Script {
  /** The answer to a request. A request for something auxiliary takes no turn. */
  next(request: ModelRequest): Promise<Reply & { auxiliary: boolean }>;
  /** Turns that were taken; more than there are when the agent asked on. */
  readonly taken: number;
}

export function createScript(turns: readonly Turn[]): Script {
  // Agents offer their tools with every turn of the conversation, and none with a title or a summary.
  const wantsTools = turns.some((turn) => turn.calls !== undefined);
  let taken = 0;
  let replies = 0;
  return {
    get taken() {
      return taken;
    },
    async next(request) {
      replies += 1;
      const id = `mock_${replies}`;
      if (request.schema !== undefined) {
        const text = JSON.stringify(sampleOf(asObject(request.schema)));
        return { id, text, calls: [], auxiliary: true };
      }
      if (wantsTools && request.tools.length === 0) return { id, text: 'ok', calls: [], auxiliary: true };
      const turn = turns[taken] ?? { text: 'The script is over.' };
      taken += 1;
      await turn.before?.();
      const calls = (turn.calls ?? []).map(({ name, args }, i) => ({
        id: `call_${replies}_${i}`,
        ...offeredAs(name, request.tools),
        args,
      }));
      return { id, text: turn.text ?? '', calls, auxiliary: false };
    },
  };
}

/** Holds a turn: `before: gate.wait`. */
export interface Gate {
  wait(): Promise<void>;
  /** Settles when the first turn waits. */
  readonly reached: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let reach = (): void => {};
  let open = (): void => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    wait() {
      reach();
      return opened;
    },
    reached,
    open: () => open(),
  };
}

/** The tool as the agent calls it: the same name, else the first that ends in it. */
function offeredAs(name: string, tools: readonly OfferedTool[]): OfferedTool {
  const found =
    tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.endsWith(`_${name}`));
  if (found === undefined) {
    throw new Error(`no tool ${name} among those offered: ${tools.map((tool) => tool.name).join(', ')}`);
  }
  return found;
}

/** The smallest value that follows a JSON schema, near enough for classifiers and titles. */
function sampleOf(schema: Json): unknown {
  const variants = schema.enum ?? schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) return schema.enum ? variants[0] : sampleOf(asObject(variants[0]));
  switch (String(schema.type).toLowerCase()) {
    case 'string':
      return 'ok';
    case 'number':
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    default:
      return Object.fromEntries(
        Object.entries(asObject(schema.properties)).map(([key, value]) => [key, sampleOf(asObject(value))]),
      );
  }
}

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

export function asObjects(value: unknown): Json[] {
  return Array.isArray(value) ? (value as unknown[]).map((item) => asObject(item)) : [];
}

export function asText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The name at the end of an API's path when it is `end`, with whatever base in front. */
export function isPath(path: string, end: string): boolean {
  return path.split('?')[0]?.endsWith(end) === true;
}

/** Server-sent events, `[event, data]`, no event line for an empty name; a string goes out as it is. */
export function writeEvents(res: ServerResponse, events: readonly (readonly [string, unknown])[]): void {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const [event, data] of events) {
    if (event !== '') res.write(`event: ${event}\n`);
    res.write(`data: ${asText(data)}\n\n`);
  }
  res.end();
}
