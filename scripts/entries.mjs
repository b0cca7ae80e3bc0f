// The entries of the package, read from `exports`, so that what checks them needs no list of its own.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** `{ name: 'mooring/client', types: './dist/client.d.ts', file: './dist/client.js' }` for each entry that is code. */
export function readEntries(packageRoot) {
  const { name, exports } = JSON.parse(readFileSync(resolve(packageRoot, 'package.json'), 'utf8'));
  return Object.entries(exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([path, target]) => ({
      name: path === '.' ? name : `${name}${path.slice(1)}`,
      types: target.types,
      file: target.default,
    }));
}

/** The declaration files that the entries lead to: what a user's compiler can see. */
export function reachableDeclarations(packageRoot) {
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = withoutComments(readFileSync(path, 'utf8'));
    for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
      visit(resolve(dirname(path), specifier.replace(/\.js$/, '.d.ts')));
    }
  };
  for (const { types } of readEntries(packageRoot))
    if (types !== undefined) visit(resolve(packageRoot, types));
  return seen;
}

/** Good enough for declaration files, whose only strings are literal types and specifiers. */
export function withoutComments(declarations) {
  return declarations.replace(/\/\*[\s\S]*?\*\/|(?<![:'"])\/\/.*$/gm, '');
}
