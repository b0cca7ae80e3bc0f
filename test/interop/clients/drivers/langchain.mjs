/** @langchain/mcp-adapters. It takes no `fetch`. */
export async function driver(load) {
  const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
  return ({ url }) => {
    const client = new MultiServerMCPClient({ lab: { transport: 'http', url } });
    const tools = client.getTools();
    return {
      opened: tools,
      list: async () => (await client.getTools()).map(({ name }) => name),
      call: async (name, args) => [
        { text: await (await tools).find((tool) => tool.name === name).invoke(args) },
      ],
      close: () => client.close(),
    };
  };
}
