/**
 * The environment variables of the preload. Refuses: to stop somebody else's program for a value that is wrong; it
 * warns, and the default stands.
 */
import type { ServerOptions } from '../options.js';

export interface Environment {
  bounds: Pick<ServerOptions, 'listen' | 'streamIdleMs' | 'maxSessions'>;
  isLogged: boolean;
}

const LISTEN = ['off', 'active', 'always'] as const;

export function readEnvironment(env: Readonly<Record<string, string | undefined>>): Environment {
  const warn = (name: string, wanted: string): void => {
    process.emitWarning(`${name} is ignored: it must be ${wanted}`, { code: 'MOORING_BAD_OPTIONS' });
  };
  const whole = (name: string, least: number, most: number): number | undefined => {
    const text = env[name];
    if (text === undefined || text === '') return undefined;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    warn(name, `a whole number, ${least} to ${most}`);
    return undefined;
  };
  const asked = env.MOORING_LISTEN;
  const listen = LISTEN.find((mode) => mode === asked);
  if (asked !== undefined && asked !== '' && listen === undefined) warn('MOORING_LISTEN', LISTEN.join(', '));
  const streamIdleMs = whole('MOORING_STREAM_IDLE_MS', 0, 2 ** 31 - 1);
  const maxSessions = whole('MOORING_MAX_SESSIONS', 1, 10_000);
  return {
    bounds: {
      ...(listen === undefined ? {} : { listen }),
      ...(streamIdleMs === undefined ? {} : { streamIdleMs }),
      ...(maxSessions === undefined ? {} : { maxSessions }),
    },
    isLogged: env.MOORING_LOG !== undefined && env.MOORING_LOG !== '' && env.MOORING_LOG !== '0',
  };
}
