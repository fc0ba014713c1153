import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { Caller } from '../caller.ts';
import type { ListedTool } from '../list-tools.ts';
import type { RunningRequest } from '../run-job.ts';

/** A tool call, from the tools API, from MCP, or from a hosted tool. */
export interface ToolRequest {
  tool: string;
  /** The call in the worker's format: `{tool, input}`. */
  body: Buffer;
  /** Whether the answer is a stream of events with progress. */
  stream: boolean;
}

/**
 * Serves a call of one tool.
 * @returns the running call; undefined if the caller has left
 * @throws RouterError
 */
export type ServeCall = (request: ToolRequest, sink: JobSink, caller: Caller) => Promise<RunningRequest | undefined>;

/** Tools that depend on the person who sends the request. */
export interface PersonalTools {
  list(caller: Caller): Promise<ListedTool[]>;
  /**
   * Finds the function that serves calls of a tool. Returns undefined if the tool does not depend on the person.
   * @throws RouterError `permission_denied`, `connection_required`, or `not_found`
   */
  find(tool: string, caller: Caller): Promise<ServeCall | undefined>;
}
