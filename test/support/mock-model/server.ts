/**
 * A model for agents that are driven without a network: a loopback server with a script in place of a model.
 * Owns: the listening, the choice of the API by path, the record of what was asked.
 * Refuses: to check keys; any is good.
 */
import { listenHttp, readJson, sendJson } from '../../../demo/http-server.js';
import { chatCompletions } from './chat-completions.js';
import { countTokens, gemini } from './gemini.js';
import { countInputTokens, messages } from './messages.js';
import { responses } from './responses.js';
import { asObject, createScript } from './script.js';
import type { ModelRequest, Turn } from './script.js';

const APIS = [responses, chatCompletions, messages, gemini];
const MODELS = { object: 'list', data: [{ id: 'mock', object: 'model', created: 0, owned_by: 'mock' }] };

export interface AskedModel extends ModelRequest {
  /** `responses`, `chat-completions`, `messages` or `gemini`. */
  api: string;
  path: string;
  body: unknown;
  /** It took no turn. */
  auxiliary: boolean;
}

export interface MockModel {
  /** `http://127.0.0.1:PORT`; an agent adds `/v1` or what its API wants. */
  readonly origin: string;
  readonly asked: readonly AskedModel[];
  /** Turns that were taken; more than the script has when the agent asked on. */
  readonly taken: number;
  /** Paths that are of no API, and faults of the script; a good run has none. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

export async function startMockModel(turns: readonly Turn[]): Promise<MockModel> {
  const script = createScript(turns);
  const asked: AskedModel[] = [];
  const faults: string[] = [];
  const http = await listenHttp(async (req, res) => {
    const path = req.url ?? '';
    const body = asObject(await readJson(req));
    const count = countTokens(path) ?? countInputTokens(path);
    if (count !== undefined) return sendJson(res, 200, count);
    if (path.endsWith('/models')) return sendJson(res, 200, MODELS);
    for (const api of APIS) {
      const request = api.read(path, body);
      if (request === undefined) continue;
      const entry = { ...request, api: api.name, path, body, auxiliary: false };
      asked.push(entry);
      try {
        const reply = await script.next(request);
        entry.auxiliary = reply.auxiliary;
        return api.write(res, request, reply);
      } catch (error) {
        faults.push(String(error));
        return sendJson(res, 400, { error: { message: String(error), type: 'invalid_request_error' } });
      }
    }
    faults.push(`${req.method ?? ''} ${path}`);
    return sendJson(res, 404, { error: { message: `mock model: nothing at ${path}` } });
  });
  return {
    origin: http.origin,
    asked,
    faults,
    get taken() {
      return script.taken;
    },
    stop: () => http.stop(),
  };
}
