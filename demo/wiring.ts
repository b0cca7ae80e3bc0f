/**
 * What a host needs of its MCP servers. Each column of the demo implements it; the host is the same.
 */
export interface Wiring {
  /** Connects one agent session to every configured server, or connects it again, and lists their tools. */
  connect(agent: string): Promise<void>;
  /** Calls the tool `work` of one server for one agent session. */
  call(agent: string, server: string, key: string): Promise<void>;
  /** The agent session is over. */
  end(agent: string): Promise<void>;
  /** These are the configured servers from now on. */
  reload(servers: ServerUrls): Promise<void>;
}

/** Name -> endpoint. */
export type ServerUrls = Readonly<Record<string, string>>;

/** What a call may take, in ms; also without Mooring, so that a lost call ends the same way. */
export const CALL_TIMEOUT_MS = 5_000;

/** Which official SDK the host uses. */
export type Major = 1 | 2;
