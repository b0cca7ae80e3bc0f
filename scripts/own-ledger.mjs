// Loaded into each process of the suite: what one of them leaves in its ledger is not ended by another.
// Servers of the tests get their ports from the system, and a port that was used before would look like the same server.
import { join } from 'node:path';

const { MOORING_LEDGER_DIR } = process.env;
if (MOORING_LEDGER_DIR) process.env.MOORING_LEDGER_DIR = join(MOORING_LEDGER_DIR, String(process.pid));
