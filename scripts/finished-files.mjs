// A node:test reporter: one line of JSON for each test file that was run to its end, `tests` false if it held none.
// node:test reports the file itself as a test, under its path; it reports it as passed only when nothing in it
// was one. (Which file a test was written in says less: a shared suite lives in another.)
import { resolve } from 'node:path';

export default async function* finishedFiles(events) {
  const files = new Map();
  for await (const { type, data } of events) {
    const isFile = data?.file !== undefined && data.name !== undefined && resolve(data.name) === data.file;
    if (!isFile) continue;
    if (type === 'test:complete') files.set(data.file, files.get(data.file) ?? true);
    else if (type === 'test:pass') files.set(data.file, false);
  }
  for (const [file, tests] of files) yield `${JSON.stringify({ file, tests })}\n`;
}
