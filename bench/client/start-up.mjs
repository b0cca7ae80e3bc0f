// What the preload adds to a program that does nothing, interleaved with bare node.
import { spawnSync } from 'node:child_process';
import { median } from '../child.mjs';

export function startUp({ quick, preload, progress }) {
  const runs = quick ? 10 : 40;
  progress(`start-up, ${runs} runs each`);
  const time = (args) => {
    const start = performance.now();
    spawnSync(process.execPath, [...args, '-e', '0']);
    return performance.now() - start;
  };
  const bare = [];
  const preloaded = [];
  for (let n = 0; n < runs; n++) {
    bare.push(time([]));
    preloaded.push(time(['--require', preload]));
  }
  const ms = (value) => Number(value.toFixed(1));
  return [
    {
      runs,
      bareMs: ms(median(bare)),
      preloadedMs: ms(median(preloaded)),
      ratio: Number((median(preloaded) / median(bare)).toFixed(3)),
      leastBareMs: ms(Math.min(...bare)),
      leastPreloadedMs: ms(Math.min(...preloaded)),
    },
  ];
}
