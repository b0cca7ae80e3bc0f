import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createGate } from './mock-model/script.js';
import type { Turn } from './mock-model/script.js';
import { startMockModel } from './mock-model/server.js';
import type { MockModel } from './mock-model/server.js';

const TURNS: Turn[] = [{ calls: [{ name: 'echo', args: { text: 'a' } }] }, { text: 'bye' }];
const SCHEMA = { type: 'object', properties: { next: { type: 'string', enum: ['user', 'model'] } } };

type Body = Record<string, unknown>;
type Ask = (body: Body, stream: boolean) => Promise<Response>;

interface Row {
  api: string;
  path(stream: boolean): string;
  /** The fields that make a turn's request: offers `mcp_s_echo`, and holds one result of a tool. */
  turn: Body;
  /** The fields that ask for JSON. */
  json: Body;
}

const PARAMETERS = { type: 'object', properties: {} };
const ROWS: Row[] = [
  {
    api: 'responses',
    path: () => '/v1/responses',
    turn: {
      model: 'm',
      tools: [{ type: 'namespace', name: 'mcp_s', tools: [{ type: 'function', name: 'echo' }] }],
      input: [{ type: 'function_call_output', call_id: 'c', output: 'result of before' }],
    },
    json: { model: 'm', input: 'x', text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA } } },
  },
  {
    api: 'chat-completions',
    path: () => '/v1/chat/completions',
    turn: {
      model: 'm',
      tools: [{ type: 'function', function: { name: 'mcp_s_echo', parameters: PARAMETERS } }],
      messages: [{ role: 'tool', tool_call_id: 'c', content: 'result of before' }],
    },
    json: {
      model: 'm',
      messages: [],
      response_format: { type: 'json_schema', json_schema: { schema: SCHEMA } },
    },
  },
  {
    api: 'messages',
    path: () => '/v1/messages?beta=true',
    turn: {
      model: 'm',
      tools: [{ name: 'mcp_s_echo', input_schema: PARAMETERS }],
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'result of before' }] },
      ],
    },
    json: { model: 'm', messages: [], output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  },
  {
    api: 'gemini',
    path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    turn: {
      tools: [{ functionDeclarations: [{ name: 'mcp_s_echo' }] }],
      contents: [
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'x', response: { output: 'result of before' } } }],
        },
      ],
    },
    json: {
      contents: [],
      generationConfig: { responseMimeType: 'application/json', responseSchema: SCHEMA },
    },
  },
];

async function withModel(
  turns: Turn[],
  row: Row,
  run: (ask: Ask, model: MockModel) => Promise<void>,
): Promise<void> {
  const model = await startMockModel(turns);
  try {
    await run(
      (body, stream) =>
        fetch(`${model.origin}${row.path(stream)}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, ...(row.api === 'gemini' ? {} : { stream }) }),
        }),
      model,
    );
  } finally {
    await model.stop();
  }
}

/** The JSON values of an event stream; the words of the end are left out. */
async function eventsOf(response: Response): Promise<unknown[]> {
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const data = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  return data.map((line) => JSON.parse(line.slice('data: '.length)) as unknown);
}

for (const row of ROWS) {
  void describe(`the mock model, ${row.api}`, () => {
    for (const stream of [false, true]) {
      const answer = async (response: Response): Promise<string> =>
        JSON.stringify(stream ? await eventsOf(response) : await response.json());

      void it(`says its turns in order, ${stream ? 'as a stream' : 'in one piece'}`, async () => {
        await withModel(TURNS, row, async (ask, model) => {
          const call = await answer(await ask(row.turn, stream));
          assert.match(call, row.api === 'responses' ? /"name":"echo","namespace":"mcp_s"/ : /"mcp_s_echo"/);
          assert.match(call, /\\?"text\\?":\\?"a\\?"/);
          assert.match(await answer(await ask(row.turn, stream)), /bye/);
          assert.equal(model.taken, 2);
          assert.deepEqual(model.faults, []);
          const [first] = model.asked;
          assert.equal(first?.api, row.api);
          assert.equal(first?.stream, stream);
          assert.match(first?.results.join() ?? '', /result of before/);
        });
      });
    }

    void it('takes no turn for JSON, nor for a request without tools in a script with calls', async () => {
      await withModel(TURNS, row, async (ask, model) => {
        assert.match(await (await ask(row.json, false)).text(), /\{\\"next\\":\\"user\\"\}/);
        await ask({ ...row.turn, tools: [] }, false);
        assert.equal(model.taken, 0);
        assert.deepEqual(
          model.asked.map((entry) => entry.auxiliary),
          [true, true],
        );
      });
    });

    void it('holds a turn until it is told', async () => {
      const gate = createGate();
      await withModel([{ text: 'late', before: gate.wait }], row, async (ask) => {
        let answered = false;
        const asking = ask(row.turn, true).then((response) => {
          answered = true;
          return response.text();
        });
        await gate.reached;
        assert.equal(answered, false);
        gate.open();
        assert.match(await asking, /late/);
      });
    });
  });
}

void it('the mock model counts tokens, names a tool that nobody offers, and notes what it does not know', async () => {
  const model = await startMockModel([{ calls: [{ name: 'none', args: {} }] }]);
  try {
    const post = (path: string, body: Body): Promise<Response> =>
      fetch(`${model.origin}${path}`, { method: 'POST', body: JSON.stringify(body) });
    assert.deepEqual(await (await post('/v1beta/models/m:countTokens', {})).json(), { totalTokens: 100 });
    assert.deepEqual(await (await post('/v1/messages/count_tokens', {})).json(), { input_tokens: 100 });
    const chat = await post('/v1/chat/completions', { tools: [{ function: { name: 'echo' } }] });
    assert.equal(chat.status, 400);
    assert.equal((await post('/v1/other', {})).status, 404);
    assert.deepEqual(model.faults, ['Error: no tool none among those offered: echo', 'POST /v1/other']);
  } finally {
    await model.stop();
  }
});
