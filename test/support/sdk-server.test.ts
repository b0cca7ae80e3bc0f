import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bareTransport, callTool, connect, MAJORS, newClient } from './clients.js';
import { refusal, startSdkServer } from './sdk-server.js';
import { until } from './until.js';

for (const major of MAJORS) {
  describe(`test server on SDK v${major}`, () => {
    it('logs each request, counts at the tool, and forgets nothing by itself', async (t) => {
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const client = newClient(major, { onElicit: async () => 'blue' });
      await connect(client, bareTransport(major, server.url));
      assert.equal(await callTool(client, 'echo', { text: 'hello' }), 'hello');
      await callTool(client, 'count', { key: 'a' });
      assert.equal(server.tools.runs('a'), 1);
      assert.equal(await callTool(client, 'elicit', { key: 'q1' }), 'blue');
      assert.equal(await callTool(client, 'elicit', { key: 'q2', via: 'stream' }), 'blue');
      assert.deepEqual(server.answers, [
        ['q1', 'blue'],
        ['q2', 'blue'],
      ]);
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.filter((tool) => tool.annotations?.readOnlyHint).map((tool) => tool.name),
        ['lookup'],
      );
      assert.equal(server.log.issued().length, 1);
      const [sid] = server.log.issued();
      assert.equal(server.log.count({ method: 'GET', sid: sid as string, status: 200 }), 1);
      assert.equal(server.log.count({ rpc: 'tools/call' }), 4);
      await client.close();
      await until('all sockets idle', () => server.log.entries.every((e) => e.durationMs !== undefined));
      assert.equal(server.sessions, 1, 'the bare SDK sends no DELETE');
      assert.equal(server.log.count({ method: 'DELETE' }), 0);
    });

    it('expires, restarts on the same port, and refuses as it was told', async (t) => {
      const server = await startSdkServer({ major });
      t.after(() => server.stop());
      const open = async () => {
        const client = newClient(major);
        await connect(client, bareTransport(major, server.url));
        return client;
      };
      const first = await open();
      server.expireAll();
      assert.equal(server.sessions, 0);
      await assert.rejects(callTool(first, 'count', { key: 'x' }), /404|not found/i);
      await first.close();
      const second = await open();
      await server.restart(20);
      await assert.rejects(callTool(second, 'count', { key: 'x' }), /404|not found/i);
      server.refuseWith(400, refusal(-32000, 'Bad Request: No valid session ID provided'));
      await assert.rejects(callTool(second, 'count', { key: 'x' }), /No valid session ID/);
      await second.close();
      assert.equal(server.tools.total, 0);
      await server.stop();
      assert.equal(server.sockets, 0);
    });

    it('serves without sessions', async (t) => {
      const server = await startSdkServer({ major, era: 'stateless' });
      t.after(() => server.stop());
      const client = newClient(major);
      await connect(client, bareTransport(major, server.url));
      assert.equal(await callTool(client, 'count', { key: 'a' }), 'counted a');
      assert.deepEqual(server.log.issued(), []);
      assert.equal(server.sessions, 0);
      await client.close();
    });
  });
}

it('serves 2026-07-28 and nothing else', async (t) => {
  const server = await startSdkServer({ major: 2, era: '2026-07-28' });
  t.after(() => server.stop());
  const client = newClient(2, { pin: '2026-07-28' });
  await connect(client, bareTransport(2, server.url));
  assert.equal(await callTool(client, 'count', { key: 'a' }), 'counted a');
  assert.equal(server.log.count({ rpc: 'initialize' }), 0);
  assert.equal(server.log.count({ method: 'GET' }), 0);
  await client.close();
});
