/**
 * What the table looks like when Mooring does not do its work: each break takes one thing away from outside, with
 * a `fetch` between Mooring and the server. The demo must then exit with 1, which a test sees.
 */
export const BREAKS = ['no-delete', 'no-404'] as const;
export type Break = (typeof BREAKS)[number];

/** `no-delete`: DELETEs never reach the server. `no-404`: a refusal looks like a server error. */
export function breakingFetch(broken: Break): typeof fetch {
  return async (input, init) => {
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    if (broken === 'no-delete' && method === 'DELETE') return new Response(null, { status: 200 });
    const response = await fetch(input, init);
    if (broken === 'no-404' && response.status === 404) {
      await response.body?.cancel();
      return new Response('something went wrong', { status: 500 });
    }
    return response;
  };
}
