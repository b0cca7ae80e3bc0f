// Many sessions ended by one `close()`, beside the round trip of one DELETE.
import { median, startServer } from '../child.mjs';
import { openWay } from './ways.mjs';

const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
});

/** Milliseconds from the request to its answer, of a session that was opened for it. */
async function oneDelete(url) {
  const opened = await fetch(url, { method: 'POST', headers: ACCEPT, body: INITIALIZE });
  await opened.text();
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') };
  const start = performance.now();
  await (await fetch(url, { method: 'DELETE', headers })).text();
  return performance.now() - start;
}

export async function closeMany({ quick, progress }) {
  const sessions = quick ? 100 : 1_000;
  const server = await startServer();
  const rows = [];
  const single = [];
  for (let n = 0; n < 50; n++) single.push(await oneDelete(server.url));
  const deleteMs = median(single);
  for (const way of ['createSessions', 'createFetch']) {
    progress(`close of ${sessions} sessions, ${way}`);
    const host = await openWay(way, server.url, sessions);
    const start = performance.now();
    await host.close();
    const closeMs = performance.now() - start;
    rows.push({
      way,
      sessions,
      closeMs: Number(closeMs.toFixed(1)),
      oneDeleteMs: Number(deleteMs.toFixed(2)),
      deletesWorth: Number((closeMs / deleteMs).toFixed(0)),
    });
  }
  await server.stop();
  return rows;
}
