/** The order of imports and the few other rules of rules.ts, held against every file of src/. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verifies } from '../requirements.js';
import { type Sources, staleExceptions, violations } from './rules.js';
import { blankText, importsOf } from './source-text.js';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const sources: Record<string, string> = {};
for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.name.endsWith('.ts'))
    sources[relative(src, path).split(sep).join('/')] = readFileSync(path, 'utf8');
}

const told = (files: Sources): string[] =>
  violations(files).map(({ file, line, rule }) => `${file}:${line} ${rule}`);

describe('structure of src/', () => {
  it('keeps every rule', () => {
    verifies('structure/imports-point-up');
    verifies('structure/one-clock');
    verifies('structure/only-cli-prints');
    assert.ok(Object.keys(sources).length > 10, 'src/ was not found');
    assert.deepEqual(told(sources), []);
  });

  it('has no exception that nobody needs', () => {
    assert.deepEqual(staleExceptions(sources), []);
  });
});

describe('a planted violation is found', () => {
  const planted: [name: string, file: string, source: string, rule: RegExp][] = [
    [
      'a lower layer imports a higher one',
      'session/a.ts',
      "import { b } from '../client/b.js';",
      /session is below client/,
    ],
    [
      'a type does',
      'protocol/a.ts',
      "import type { B } from '../session/b.js';",
      /protocol is below session/,
    ],
    [
      'an inline type does',
      'errors.ts',
      "export type A = import('./clock.js').Clock;",
      /errors.ts is below clock.ts/,
    ],
    ['a dynamic import does', 'clock.ts', "await import(\n  './events.js');", /clock.ts is below events.ts/],
    ['client imports guard', 'client/a.ts', "export { b } from '../guard/b.js';", /side by side/],
    ['gateway imports client', 'gateway/a.ts', "import { b } from '../client/b.js';", /side by side/],
    ['a part imports an entry', 'cli/a.ts', "import { b } from '../client.js';", /cli is below client.ts/],
    ['a file leaves src/', 'session/a.ts', "import '../../test/support/a.js';", /outside src/],
    [
      'a foreign package',
      'client/a.ts',
      "import { Client } from '@modelcontextprotocol/sdk/client';",
      /may import/,
    ],
    ['a package of the command line', 'session/a.ts', "import pino from 'pino';", /may import/],
    ['a builtin without node:', 'client/a.ts', "import fs from 'fs';", /may import/],
    ['protocol does I/O', 'protocol/a.ts', "import { readFile } from 'node:fs/promises';", /pure/],
    ['a folder named utils', 'session/utils/a.ts', '', /utils/],
    ['a file named types', 'client/types.ts', '', /types/],
    ['a folder without a layer', 'shared/a.ts', '', /no place/],
    [
      'an entry with code',
      'client.ts',
      "export { a } from './client/a.js';\nconst b = 1;",
      /client.ts:2 an entry/,
    ],
    ['an entry that re-exports all', 'client.ts', "export * from './client/a.js';", /an entry/],
    ['an entry that awaits', 'index.ts', "await import('./errors.js');", /an entry/],
    ['a timer', 'session/a.ts', 'setTimeout(() => {}, 1);', /clock.ts, not setTimeout/],
    ['a wall clock in a template', 'session/a.ts', 'const a = `${Date.now()}`;', /clock.ts, not Date.now/],
    [
      'timers by import',
      'client/a.ts',
      "import { setTimeout as s } from 'node:timers/promises';",
      /node:timers/,
    ],
    ['a print', 'client/a.ts', "console.error('x');", /prints or exits/],
    ['an exit', 'client/a.ts', 'process.exit(1);', /prints or exits/],
  ];
  for (const [name, file, source, rule] of planted) {
    it(name, () => {
      const found = told({ [file]: source });
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] as string, rule);
    });
  }

  it('and what is allowed is not', () => {
    const allowed = {
      'client.ts': "// entry\nexport { a } from './client/a.js';\nexport type { B } from './client/b.js';\n",
      'client/a.ts': [
        "import { Agent } from 'undici';",
        "import { z } from 'zod';",
        "import { b } from '../session/b.js';",
        "import { readFile } from 'node:fs/promises';",
        'const text = "setTimeout(1)"; // console.log',
        'const pattern = /[\'"]/; const half = 4 / 2; clock.setTimeout(1); parser.console.x;',
        'const nested = `a ${`b ${half}`} import "pino"`;',
      ].join('\n'),
      'cli/run.ts': "import { main } from 'citty';\nconsole.log(1); process.exit(0);",
      'gateway/log.ts': "import pino from 'pino';\nimport { b } from '../session/b.js';",
    };
    assert.deepEqual(told(allowed), []);
  });
});

describe('the scanner', () => {
  it('blanks strings, comments, templates and regexes, and nothing else', () => {
    const source = 'a("x\\"y", `p${q({ r: `s` })}t`, /[/"]+/g); /* u\n v */ w / x; // y';
    const code = 'a("    ", ` ${q({ r: ` ` })} `, /     /g);     \n      w / x;     ';
    assert.equal(blankText(source), code);
  });

  it('finds every form of import, with its line', () => {
    const source =
      "import 'a';\nimport b, { type c } from 'b';\nexport * from \"c\";\nawait import('d');\n// from 'e'\n";
    assert.deepEqual(importsOf(source), [
      { specifier: 'a', line: 1 },
      { specifier: 'b', line: 2 },
      { specifier: 'c', line: 3 },
      { specifier: 'd', line: 4 },
    ]);
  });
});
