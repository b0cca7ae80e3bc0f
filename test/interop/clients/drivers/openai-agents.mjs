/** @openai/agents. */
export async function driver(load) {
  const { MCPServerStreamableHttp } = await load('@openai/agents');
  return ({ url, fetch }) => {
    const server = new MCPServerStreamableHttp({ name: url, url, ...(fetch && { fetch }) });
    return {
      opened: server.connect(),
      list: async () => (await server.listTools()).map(({ name }) => name),
      call: (name, args) => server.callTool(name, args),
      close: () => server.close(),
    };
  };
}
