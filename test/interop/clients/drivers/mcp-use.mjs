/** mcp-use. */
export async function driver(load) {
  const { MCPClient } = await load('mcp-use/client');
  return ({ url, fetch }) => {
    const client = new MCPClient({ mcpServers: { lab: { url, ...(fetch && { fetch }) } } });
    const opening = client.createSession('lab');
    return {
      opened: opening,
      list: async () => (await (await opening).listTools()).map(({ name }) => name),
      call: async (name, args) => (await (await opening).callTool(name, args)).content,
      close: () => client.closeAllSessions(),
    };
  };
}
