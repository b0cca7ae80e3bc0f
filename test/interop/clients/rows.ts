/**
 * The rows of the table, in its order.
 */
import { closed, closedInInitialize, closedWhileDeleteHangs } from './rows/closing.js';
import { expiredOneByOne, expiredTogether, restartedOneByOne, restartedTogether } from './rows/forgotten.js';
import { lostCall } from './rows/lost-call.js';
import { nothingLeftToDo, terminated } from './rows/process-end.js';
import type { Row } from './rows/row.js';
import { endedStreams, idle } from './rows/stream.js';

export const ROWS: readonly Row[] = [
  closed,
  closedWhileDeleteHangs,
  closedInInitialize,
  expiredOneByOne,
  expiredTogether,
  restartedOneByOne,
  restartedTogether,
  lostCall,
  endedStreams,
  idle,
  nothingLeftToDo,
  terminated,
];
