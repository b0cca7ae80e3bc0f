import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startSdkServer } from '../support/sdk-server.js';
import { until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

for (const via of ['call', 'stream'] as const) {
  describe(`an elicitation on the ${via === 'call' ? "call's own" : 'listening'} stream`, () => {
    everyWay('answered after the server restarted never reaches the new session', async (t, kind) => {
      verifies('refused/answers-belong-to-their-generation');
      const server = await startSdkServer({ major: kind.major });
      t.after(() => server.stop());
      const asked = new Map<string, (answer: string) => void>();
      const onElicit = (key: string): Promise<string> =>
        new Promise((resolve) => {
          asked.set(key, resolve);
        });
      const host = await openHost(t, kind, server.url, { client: { onElicit } });

      const first = assert.rejects(host.call('elicit', { key: 'old', via }));
      await until('the first question', () => asked.has('old'));
      await server.restart(20);
      await first;
      // The new session asks as well, under the same JSON-RPC id: its server counts from the start.
      const second = host.call('elicit', { key: 'new', via });
      await until('the second question', () => asked.has('new'));
      const [oldId, newId] = server.log.issued();
      assert.ok(oldId && newId && oldId !== newId);

      const before = server.log.now();
      asked.get('old')?.('answer to the old question');
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(server.log.count({ rpc: 'response', sid: newId, since: before }), 0);
      assert.deepEqual(server.answers, []);

      asked.get('new')?.('answer to the new question');
      assert.equal(await second, 'answer to the new question');
      assert.deepEqual(server.answers, [['new', 'answer to the new question']]);
      await host.close();
      await assertAllEnded(server);
    });

    everyWay('answered in time reaches the one who asked', async (t, kind) => {
      verifies('refused/answers-belong-to-their-generation');
      const server = await startSdkServer({ major: kind.major });
      t.after(() => server.stop());
      const host = await openHost(t, kind, server.url, { client: { onElicit: async (key) => `re: ${key}` } });
      const keys = ['a', 'b', 'c'];
      const answers = await Promise.all(keys.map((key) => host.call('elicit', { key, via })));
      assert.deepEqual(
        answers,
        keys.map((key) => `re: ${key}`),
      );
      await host.close();
      await assertAllEnded(server);
    });
  });
}
