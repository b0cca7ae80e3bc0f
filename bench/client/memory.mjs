// Memory of an idle live session, in a process of its own, the median of three.
import { median, startChild, startServer } from '../child.mjs';
import { nodeArgsOf, WAYS } from './ways.mjs';

export async function memory({ quick, preload, progress }) {
  const sessions = quick ? 50 : 200;
  const runs = quick ? 1 : 3;
  const server = await startServer();
  const measured = new Map(WAYS.map((way) => [way, []]));
  for (let run = 0; run < runs; run++) {
    progress(`memory of ${sessions} idle sessions, run ${run + 1} of ${runs}`);
    await Promise.all(
      WAYS.map(async (way) => {
        const host = startChild('./client/memory-host.mjs', [way, server.url, String(sessions)], {
          nodeArgs: ['--expose-gc', ...nodeArgsOf(way, preload)],
          // The preload has the bounds of its environment.
          env: { MOORING_MAX_SESSIONS: String(sessions + 1) },
        });
        const { bytes } = await host.next();
        measured.get(way).push(bytes);
        await host.stop();
      }),
    );
  }
  await server.stop();
  return WAYS.map((way) => ({
    way,
    sessions,
    kilobytesEach: Number((median(measured.get(way)) / 1_024).toFixed(1)),
  }));
}
