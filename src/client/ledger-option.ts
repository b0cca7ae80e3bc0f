/**
 * What is wrong with the option `ledger`, in words. Refuses: unknown names, a folder that is no path.
 */

/** Undefined: nothing. */
export function ledgerFault(value: unknown): string | undefined {
  if (value === undefined || value === false) return undefined;
  if (typeof value !== 'object' || value === null) return 'ledger: must be false or { dir }';
  const unknown = Object.keys(value).filter((name) => name !== 'dir');
  if (unknown.length > 0) return `ledger: unknown option ${unknown.join(', ')}; there is dir`;
  const { dir } = value as { dir?: unknown };
  if (dir === undefined || (typeof dir === 'string' && dir !== '')) return undefined;
  return 'ledger.dir: must be the path of a folder';
}
