/**
 * Anthropic's Messages: `/v1/messages`, and `/v1/messages/count_tokens`.
 */
import { sendJson } from '../../../demo/http-server.js';
import { asObject, asObjects, asText, isPath, writeEvents } from './script.js';
import type { Json, ModelApi, Reply } from './script.js';

export const messages: ModelApi = {
  name: 'messages',
  read(path, body) {
    if (!isPath(path, '/messages')) return undefined;
    const format = asObject(asObject(body.output_config).format ?? body.output_format);
    return {
      model: asText(body.model),
      stream: body.stream === true,
      tools: asObjects(body.tools).map(({ name }) => ({ name: asText(name) })),
      schema: format.schema,
      results: asObjects(body.messages)
        .flatMap(({ content }) => asObjects(content))
        .flatMap((block) => (block.type === 'tool_result' ? [asText(block.content)] : [])),
    };
  },
  write(res, { stream, model }, reply) {
    const content = contentOf(reply);
    const end = { stop_reason: reply.calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null };
    const message = {
      id: `msg_${reply.id}`,
      type: 'message',
      role: 'assistant',
      model,
      usage: { input_tokens: 100, output_tokens: 10 },
    };
    if (!stream) return sendJson(res, 200, { ...message, content, ...end });
    return writeEvents(
      res,
      typed([
        {
          type: 'message_start',
          message: { ...message, content: [], stop_reason: null, stop_sequence: null },
        },
        ...content.flatMap(blockEvents),
        { type: 'message_delta', delta: end, usage: { output_tokens: 10 } },
        { type: 'message_stop' },
      ]),
    );
  },
};

/** The other question of this API, which takes no turn; undefined when the path is none of it. */
export function countInputTokens(path: string): Json | undefined {
  return isPath(path, '/messages/count_tokens') ? { input_tokens: 100 } : undefined;
}

function contentOf({ text, calls }: Reply): Json[] {
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id: `toolu_${id}`, name, input: args })),
  ];
}

function blockEvents(block: Json, index: number): Json[] {
  const isText = block.type === 'text';
  return [
    {
      type: 'content_block_start',
      index,
      content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} },
    },
    {
      type: 'content_block_delta',
      index,
      delta: isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
    },
    { type: 'content_block_stop', index },
  ];
}

function typed(events: Json[]): [string, Json][] {
  return events.map((event) => [asText(event.type), event]);
}
