/**
 * Gemini: `models/X:generateContent`, `:streamGenerateContent`, `:countTokens`, under any version.
 */
import { sendJson } from '../../../demo/http-server.js';
import { asObject, asObjects, asText, writeEvents } from './script.js';
import type { Json, ModelApi, Reply } from './script.js';

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)(\?|$)/;

export const gemini: ModelApi = {
  name: 'gemini',
  read(path, body) {
    const [, model, method] = PATH.exec(path) ?? [];
    if (model === undefined || method === 'countTokens') return undefined;
    const config = asObject(body.generationConfig);
    return {
      model,
      stream: method === 'streamGenerateContent',
      tools: asObjects(body.tools)
        .flatMap((tool) => asObjects(tool.functionDeclarations))
        .map(({ name }) => ({ name: asText(name) })),
      schema: config.responseSchema ?? config.responseJsonSchema ?? schemaOfType(config.responseMimeType),
      results: asObjects(body.contents)
        .flatMap((content) => asObjects(content.parts))
        .flatMap((part) =>
          'functionResponse' in part ? [asText(asObject(part.functionResponse).response)] : [],
        ),
    };
  },
  write(res, { stream, model }, reply) {
    const answer = answerOf(reply, model);
    if (stream) writeEvents(res, [['', answer]]);
    else sendJson(res, 200, answer);
  },
};

/** The other question of this API, which takes no turn; undefined when the path is none of it. */
export function countTokens(path: string): Json | undefined {
  return PATH.exec(path)?.[2] === 'countTokens' ? { totalTokens: 100 } : undefined;
}

function schemaOfType(mimeType: unknown): unknown {
  return mimeType === 'application/json' ? {} : undefined;
}

function answerOf({ id, text, calls }: Reply, model: string): Json {
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...calls.map((call) => ({ functionCall: { id: call.id, name: call.name, args: call.args } })),
  ];
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
    modelVersion: model,
    responseId: id,
  };
}
