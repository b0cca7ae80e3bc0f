// npm run table:clients: measures the client libraries and writes docs/clients.json and docs/clients.md. Three minutes.
import { PARTS } from '../test/interop/parts.mjs';
import { measureTable } from './measure-table.mjs';

const { node } = PARTS.find(({ name }) => name === 'clients');
measureTable({ part: 'clients', about: 'the client libraries of recipes/', node });
