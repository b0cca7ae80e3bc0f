// Processes of a measurement: started, spoken to in JSON lines, ended by their stdin.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export function startChild(file, args = [], { nodeArgs = [], env = {} } = {}) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...nodeArgs, path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const next = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${file} ended early`);
    return JSON.parse(value);
  };
  return {
    next,
    ask(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return next();
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

export function startServer() {
  const server = startChild('./server.mjs');
  return server.next().then(({ url }) => ({ url, stop: server.stop }));
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
