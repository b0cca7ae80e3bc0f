/**
 * Reads TypeScript as text, for the rules of this folder: what a file imports, and its code without strings
 * and comments. Owns a small scanner, because the compiler that we use has no parser to call.
 * Refuses: to understand TypeScript; it knows comments, strings, templates and regular expressions.
 */

/** One import, export-from, dynamic import or require of a file. */
export interface Import {
  specifier: string;
  line: number;
}

/** Same length and line breaks as `source`, with everything inside strings, comments and regexes blanked. */
export function blankText(source: string): string {
  const out = source.split('');
  const blank = (from: number, to: number): void => {
    for (let i = from; i < to; i++) if (out[i] !== '\n') out[i] = ' ';
  };
  // Depth of braces inside each template literal that is open, innermost last.
  const templates: number[] = [];
  let i = 0;
  const template = (from: number): number => {
    let j = from;
    while (j < source.length && source[j] !== '`' && !source.startsWith('${', j))
      j += source[j] === '\\' ? 2 : 1;
    blank(from, Math.min(j, source.length));
    if (source[j] === '`' || j >= source.length) return j + 1;
    templates.push(0);
    return j + 2;
  };
  while (i < source.length) {
    const at = source[i] as string;
    const depth = templates.at(-1);
    if (source.startsWith('//', i)) {
      const end = source.indexOf('\n', i);
      blank(i, end === -1 ? source.length : end);
      i = end === -1 ? source.length : end;
    } else if (source.startsWith('/*', i)) {
      const end = source.indexOf('*/', i + 2);
      const after = end === -1 ? source.length : end + 2;
      blank(i, after);
      i = after;
    } else if (at === "'" || at === '"') {
      let j = i + 1;
      while (j < source.length && source[j] !== at && source[j] !== '\n') j += source[j] === '\\' ? 2 : 1;
      blank(i + 1, Math.min(j, source.length));
      i = j + 1;
    } else if (at === '`') {
      i = template(i + 1);
    } else if (at === '}' && depth === 0) {
      templates.pop();
      i = template(i + 1);
    } else if (at === '/' && startsRegex(out, i)) {
      let j = i + 1;
      let inClass = false;
      while (j < source.length && source[j] !== '\n' && (inClass || source[j] !== '/')) {
        if (source[j] === '[') inClass = true;
        else if (source[j] === ']') inClass = false;
        j += source[j] === '\\' ? 2 : 1;
      }
      blank(i + 1, Math.min(j, source.length));
      i = j + 1;
    } else {
      if (depth !== undefined && (at === '{' || at === '}')) {
        templates[templates.length - 1] = depth + (at === '{' ? 1 : -1);
      }
      i++;
    }
  }
  return out.join('');
}

/** A slash divides after a value, and opens a regex everywhere else. */
function startsRegex(code: readonly string[], slash: number): boolean {
  let i = slash - 1;
  while (i >= 0 && /\s/.test(code[i] as string)) i--;
  if (i < 0) return true;
  const before = code.slice(Math.max(0, i - 10), i + 1).join('');
  return (
    /[([{,;=:!&|?+\-*%~^<>]$/.test(before) || /\b(?:return|typeof|case|in|of|void|await|yield)$/.test(before)
  );
}

const IMPORTS =
  /\bimport\s*(?=["'])|\bfrom\s*(?=["'])|\b(?:import|require|(?:require|meta)\.resolve)\s*\(\s*(?=["'])/g;

/** Every module that the file names in an import, `import type`, export-from, `import()`, `import('x').T` or require. */
export function importsOf(source: string): Import[] {
  const code = blankText(source);
  const found: Import[] = [];
  for (const match of code.matchAll(IMPORTS)) {
    const open = match.index + match[0].length;
    const close = code.indexOf(code[open] as string, open + 1);
    found.push({ specifier: source.slice(open + 1, close), line: lineAt(source, match.index) });
  }
  return found;
}

/** 1-based line of an offset. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length;
}
