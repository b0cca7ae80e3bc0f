/** @ai-sdk/mcp. A client that is not open yet cannot be closed: its author waits for it first. */
export async function driver(load) {
  const { createMCPClient } = await load('@ai-sdk/mcp');
  return ({ url, fetch }) => {
    const opening = createMCPClient({ transport: { type: 'http', url, ...(fetch && { fetch }) } });
    return {
      opened: opening,
      list: async () => (await (await opening).listTools()).tools.map(({ name }) => name),
      call: async (name, args) => (await (await opening).callTool({ name, arguments: args })).content,
      close: async () => (await opening).close(),
    };
  };
}
