/** @mastra/mcp. It connects with the first listing. */
export async function driver(load) {
  const { MCPClient } = await load('@mastra/mcp');
  return ({ url, fetch }) => {
    const servers = { lab: { url: new URL(url), ...(fetch && { fetch }) } };
    // Two clients that are configured alike want names.
    const client = new MCPClient({ id: url, servers });
    const tools = client.listTools();
    return {
      opened: tools,
      list: async () => Object.keys(await client.listTools()).map((name) => name.replace(/^lab_/, '')),
      call: async (name, args) => (await (await tools)[`lab_${name}`].execute(args)).content,
      close: () => client.disconnect(),
    };
  };
}
