/**
 * OpenAI's Responses: `/v1/responses`. A tool may stand in a namespace.
 */
import { sendJson } from '../../../demo/http-server.js';
import { asObject, asObjects, asText, isPath, writeEvents } from './script.js';
import type { Json, ModelApi, OfferedTool, Reply } from './script.js';

export const responses: ModelApi = {
  name: 'responses',
  read(path, body) {
    if (!isPath(path, '/responses')) return undefined;
    const format = asObject(asObject(body.text).format);
    return {
      model: asText(body.model),
      stream: body.stream === true,
      tools: asObjects(body.tools).flatMap(toolsOf),
      schema: format.type === 'json_schema' ? format.schema : schemaOfType(format.type),
      results: asObjects(body.input).flatMap(({ type, output }) =>
        type === 'function_call_output' ? [asText(output)] : [],
      ),
    };
  },
  write(res, { stream, model }, reply) {
    const output = outputOf(reply);
    const head = { id: `resp_${reply.id}`, object: 'response', created_at: 1_700_000_000, model };
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 110,
    };
    const done = { ...head, status: 'completed', output, usage };
    if (!stream) return sendJson(res, 200, done);
    const begun = { ...head, status: 'in_progress', output: [] };
    const events = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...output.flatMap(itemEvents),
      { type: 'response.completed', response: done },
    ];
    return writeEvents(
      res,
      events.map((event, sequence_number) => [event.type, { ...event, sequence_number }]),
    );
  },
};

function schemaOfType(type: unknown): unknown {
  return type === 'json_object' ? {} : undefined;
}

function toolsOf(tool: Json): OfferedTool[] {
  if (tool.type === 'function') return [{ name: asText(tool.name) }];
  if (tool.type !== 'namespace') return [];
  return asObjects(tool.tools).map(({ name }) => ({ name: asText(name), namespace: asText(tool.name) }));
}

interface Item extends Json {
  id: string;
  type: 'message' | 'function_call';
}

function outputOf({ id, text, calls }: Reply): Item[] {
  const part = { type: 'output_text', text, annotations: [] };
  const message = {
    id: `msg_${id}`,
    type: 'message' as const,
    status: 'completed',
    role: 'assistant',
    content: [part],
  };
  return [
    ...(text === '' ? [] : [message]),
    ...calls.map((call) => ({
      id: `fc_${call.id}`,
      type: 'function_call' as const,
      status: 'completed',
      call_id: call.id,
      name: call.name,
      ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
      arguments: JSON.stringify(call.args),
    })),
  ];
}

interface ItemEvent extends Json {
  type: string;
}

function itemEvents(item: Item, output_index: number): ItemEvent[] {
  const at = { item_id: item.id, output_index };
  const begun = { ...item, status: 'in_progress' };
  const end = { type: 'response.output_item.done', output_index, item };
  if (item.type === 'function_call') {
    const added = { ...begun, arguments: '' };
    return [
      { type: 'response.output_item.added', output_index, item: added },
      { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
      { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
      end,
    ];
  }
  const [part] = asObjects(item.content) as [Json];
  const inPart = { ...at, content_index: 0 };
  return [
    { type: 'response.output_item.added', output_index, item: { ...begun, content: [] } },
    { type: 'response.content_part.added', ...inPart, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...inPart, delta: part.text },
    { type: 'response.output_text.done', ...inPart, text: part.text },
    { type: 'response.content_part.done', ...inPart, part },
    end,
  ];
}
