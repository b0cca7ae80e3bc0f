import { LIBRARIES } from './libraries.ts';
import { measureColumn } from './measure.ts';
const [lib, way] = process.argv.slice(2);
const t = performance.now();
console.log(
  lib,
  way,
  await measureColumn(LIBRARIES.find((l) => l.folder === lib)!, way as any),
  Math.round(performance.now() - t),
);
