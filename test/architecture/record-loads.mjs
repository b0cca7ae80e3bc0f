// Preloaded with --import: writes the URL of each module that is loaded, one a line, to the file that
// LOADED_MODULES names. CommonJS modules that others require are added when the process ends.
import { appendFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const file = process.env.LOADED_MODULES;
const hooks = `
  import { appendFileSync } from 'node:fs';
  let file;
  export function initialize(data) { file = data; }
  export function load(url, context, next) { appendFileSync(file, url + '\\n'); return next(url, context); }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: file });
const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  for (const path of Object.keys(cache)) appendFileSync(file, `${pathToFileURL(path).href}\n`);
});
