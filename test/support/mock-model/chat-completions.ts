/**
 * OpenAI's Chat Completions: `/v1/chat/completions`.
 */
import { sendJson } from '../../../demo/http-server.js';
import { asObject, asObjects, asText, isPath, writeEvents } from './script.js';
import type { Json, ModelApi, Reply } from './script.js';

export const chatCompletions: ModelApi = {
  name: 'chat-completions',
  read(path, body) {
    if (!isPath(path, '/chat/completions')) return undefined;
    const format = asObject(body.response_format);
    return {
      model: asText(body.model),
      stream: body.stream === true,
      tools: asObjects(body.tools).map((tool) => ({ name: asText(asObject(tool.function).name) })),
      schema: format.type === 'json_schema' ? asObject(format.json_schema).schema : schemaOfType(format.type),
      results: asObjects(body.messages).flatMap(({ role, content }) =>
        role === 'tool' ? [asText(content)] : [],
      ),
    };
  },
  write(res, { stream, model }, reply) {
    const head = { id: `chatcmpl-${reply.id}`, created: 1_700_000_000, model };
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
    const finish = reply.calls.length === 0 ? 'stop' : 'tool_calls';
    if (!stream) {
      const choice = { index: 0, message: messageOf(reply), finish_reason: finish };
      return sendJson(res, 200, { ...head, object: 'chat.completion', choices: [choice], usage });
    }
    const chunk = (delta: Json, finish_reason: string | null = null): readonly ['', Json] => [
      '',
      { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] },
    ];
    return writeEvents(res, [
      chunk({ role: 'assistant', content: '' }),
      ...(reply.text === '' ? [] : [chunk({ content: reply.text })]),
      ...toolCallsOf(reply).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
      chunk({}, finish),
      ['', { ...head, object: 'chat.completion.chunk', choices: [], usage }],
      ['', '[DONE]'],
    ]);
  },
};

function schemaOfType(type: unknown): unknown {
  return type === 'json_object' ? {} : undefined;
}

function messageOf(reply: Reply): Json {
  const tool_calls = toolCallsOf(reply);
  return {
    role: 'assistant',
    content: reply.text === '' ? null : reply.text,
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  };
}

function toolCallsOf({ calls }: Reply): Json[] {
  return calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
}
