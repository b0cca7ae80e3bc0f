/**
 * What a server of the tests needs of one session, whichever major of the official SDK made it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ToolCounters } from '../tool-counters.js';

export interface SdkSession {
  handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void>;
  /** Tells the client that the tools changed, on the listening stream. */
  toolsChanged(): void;
  /** Ends the listening stream from the server's side. */
  endStream(): void;
  close(): Promise<void>;
}

export interface SdkSessionOptions {
  counters: ToolCounters;
  /** False: no id is issued, and the session lives for one request. */
  stateful: boolean;
  /** Answers POSTs with JSON instead of SSE. */
  json: boolean;
  onOpen: (sid: string, session: SdkSession) => void;
  /** The client sent a DELETE. */
  onDelete: (sid: string) => void;
  /** What a user answered to an elicitation, by the tool call's key. */
  onAnswer: (key: string, answer: string) => void;
}

/** The form that the `elicit` tool shows. */
export const ELICIT_SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
} as const;
