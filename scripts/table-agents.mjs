// npm run table:agents: measures the agents and writes docs/agents.json and docs/agents.md. Two minutes.
import { measureTable } from './measure-table.mjs';

// An agent that wants a newer Node gets it there; Mooring's own stays this one, as on a user's machine.
measureTable({ part: 'agents', about: 'the agents of test/interop/agents', node: 20 });
