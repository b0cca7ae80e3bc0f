/**
 * @mastra/mcp. It connects with the first listing, which is empty when it could not: within 3 s by default, and
 * a machine that runs the other rows at the same time may need longer.
 */
export async function driver(load) {
  const { MCPClient } = await load('@mastra/mcp');
  return ({ url, fetch }) => {
    const servers = { lab: { url: new URL(url), connectTimeout: 20_000, ...(fetch && { fetch }) } };
    // Two clients that are configured alike want names.
    const client = new MCPClient({ id: url, servers });
    const tools = client.listTools();
    return {
      opened: tools.then((listed) => {
        if (!('lab_count' in listed)) throw new Error('it lists no tools');
      }),
      list: async () => Object.keys(await client.listTools()).map((name) => name.replace(/^lab_/, '')),
      call: async (name, args) => (await (await tools)[`lab_${name}`].execute(args)).content,
      close: () => client.disconnect(),
    };
  };
}
