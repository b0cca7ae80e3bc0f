/**
 * Measures a library in one way: all rows at once, those that end their process in one of their own.
 * Every row has a server and a client of its own.
 */
import { startSdkServer } from '../../support/sdk-server.js';
import type { ClientHost } from './client-host.js';
import { startClientHost } from './client-host.js';
import type { Library, Way } from './libraries.js';
import { ROWS } from './rows.js';
import type { Cell, Row } from './rows/row.js';

export interface Column {
  /** Measures a row; at most once each. */
  cell(row: Row): Promise<Cell>;
  stop(): Promise<void>;
}

export function openColumn(library: Library, way: Way): Column {
  let shared: Promise<ClientHost> | undefined;
  return {
    async cell(row) {
      if (row.endsProcess === true) return row.measure(await startClientHost(library, way));
      shared ??= warmHost(library, way);
      return row.measure(await shared);
    },
    async stop() {
      await (await shared?.catch(() => undefined))?.stop();
    },
  };
}

/** Libraries load the half of themselves with their first client, and give up when ten of them take long. */
async function warmHost(library: Library, way: Way): Promise<ClientHost> {
  const host = await startClientHost(library, way);
  const server = await startSdkServer({ major: 1 });
  try {
    await (await host.open(server.url)).close();
    return host;
  } catch (error) {
    await host.stop();
    throw error;
  } finally {
    await server.stop();
  }
}

/** Cells by the row's id. A row that cannot be measured is a cell, too. */
export async function measureColumn(library: Library, way: Way): Promise<Record<string, Cell>> {
  const column = openColumn(library, way);
  try {
    const cells = await Promise.all(
      ROWS.map(async (row): Promise<[string, Cell]> => {
        try {
          return [row.id, await column.cell(row)];
        } catch (error) {
          return [row.id, { text: `not measured: ${String(error).split('\n')[0]}`, good: false }];
        }
      }),
    );
    return Object.fromEntries(cells);
  } finally {
    await column.stop();
  }
}
