import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../requirements.js';
import { assertAllEnded } from '../support/ended.js';
import { startFaultyServer } from '../support/faulty-server.js';
import { until } from '../support/until.js';
import { everyWay, openHost } from '../support/ways.js';

const TEXT = 'Größe \u{1f30a} 漢字 "quoted"\u2028 \\ end';

for (const newline of ['\n', '\r\n', '\r'] as const) {
  for (const cutBytes of [0, 1, 3]) {
    const name = `${JSON.stringify(newline)}, ${cutBytes === 0 ? 'whole' : `cut every ${cutBytes} bytes`}`;
    describe(`an event stream with ${name}`, () => {
      everyWay('reads the same', async (t, kind) => {
        verifies('sse/as-the-standard-says');
        const sse = { newline, cutBytes, multiline: true, comments: true };
        const server = await startFaultyServer({ sse });
        t.after(() => server.stop());
        const host = await openHost(t, kind, server.url, { client: { onElicit: async () => TEXT } });
        assert.equal(await host.call('echo', { text: TEXT }, { timeout: 5_000 }), TEXT);
        const asked = await host.call('elicit', { key: TEXT }, { timeout: 5_000 });
        assert.equal((JSON.parse(asked) as { content: { answer: string } }).content.answer, TEXT);
        await until('a stream', () => server.log.count({ method: 'GET', status: 200 }) >= 1);
        await host.close();
        await assertAllEnded(server);
      });
    });
  }
}
