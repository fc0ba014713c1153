import type { HostedKind } from '#shared/core/hosted-kind.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HostedOutcome } from './hosted-outcome.ts';

/** A tool of a request that runs beside the model: on its upstream, or on the router's tools tier. */
export interface HostedTool {
  kind: HostedKind;
  /** The tool's type in the request, such as `web_search_20250305`, for error messages. */
  title: string;
  param: string;
  /** Whether the router may leave the tool out if neither an upstream nor the router can run it. */
  isOptional?: boolean | undefined;
  /** Maximum calls of this tool in one answer; undefined if the request sets no limit. */
  maxUses?: number | undefined;
  /** Whether results from a web address are allowed; undefined if all addresses are allowed. */
  allowsUrl?: ((url: string) => boolean) | undefined;
  /** Fields of the tool that become input of the served tool if its input has fields of the same names; see `pickToolHints`. */
  hints?: JsonObject | undefined;
  /** Label of the MCP server that offers the tools. */
  label?: string | undefined;
  /** Whether the request allows a tool of the MCP server; undefined if the request allows all tools. */
  allowsTool?: ((name: string) => boolean) | undefined;
}

export interface ServedTool {
  /** The name on the tools tier. */
  name: string;
  /** The name on the MCP server. For other tools, the same name as on the tools tier. */
  nameAtServer: string;
  description: string;
  inputSchema: JsonObject;
}

/** A hosted tool of a request, with the tools that run its calls on the tools tier: one tool, or the tools of an MCP server. */
export interface RunnableTool {
  hosted: HostedTool;
  servedTools: readonly ServedTool[];
}

export interface HostedCall {
  /** Unique within the answer. */
  id: string;
  hosted: HostedTool;
  servedTool: ServedTool;
  /** The model's input: `{query}` for a search, `{url}` for a fetch, an object of the tool's own schema for a tool of an MCP server. */
  input: JsonObject;
}

/** The hosted tools of a checked request, and how the router runs them in the request's format. */
export interface HostedRequest {
  tools: readonly HostedTool[];
  createRefusal: (tool: HostedTool, reason: string) => RouterError;
  /** Returns the request's body with functions in place of its hosted tools, so that the tokens of the functions are counted. */
  withFunctions: (body: JsonObject, tools: readonly RunnableTool[]) => Buffer;
  /**
   * Begins the answer to the request.
   * @param body the request's body, with defaults for fields that the client left out
   */
  createAnswer: (body: JsonObject, tools: readonly RunnableTool[]) => HostedAnswer;
}

/**
 * One answer for which the router runs hosted tools. The router requests a turn from the model, runs the calls of the turn, and requests
 * the next turn with the results of these calls. The answer ends when the model answers or calls a tool of the client. The model gets the
 * hosted tools as functions. The turns are streams of the client's format and become one stream.
 */
export interface HostedAnswer {
  /** Maximum calls of all hosted tools together; undefined if the request sets no such limit. */
  readonly maxCalls?: number | undefined;
  /** Calls that the client has approved. They run before the first turn. */
  readonly approvedCalls: readonly HostedCall[];
  /**
   * Returns the body of the model's next request, which asks for a stream.
   * @param isLast whether to withhold the hosted tools from the model; the client's tools stay
   */
  writeNextRequest: (isLast: boolean) => Buffer;
  /**
   * Reads a piece of the model's turn and returns the client's events that the piece completes.
   * @throws RouterError `upstream_failed` if the piece cannot be read
   */
  relay: (piece: Uint8Array) => string;
  /** Approximate bytes that the answer keeps of the current turn, until the answer ends. */
  readonly turnBytes: number;
  /** Ends the model's turn and returns the calls to run. */
  endTurn: () => readonly HostedCall[];
  /**
   * Whether the answer ends with this turn. It does if the model has answered, was cut off, has called a tool of the client, or has used up
   * the output tokens of the request.
   */
  readonly isComplete: boolean;
  /** Whether a web address occurs in texts that the model did not write. */
  namesAddress: (url: string) => boolean;
  /** Writes the client's events for the outcome of a call. */
  answerCall: (call: HostedCall, outcome: HostedOutcome) => string;
  /** Returns the events that end the answer. Calls without an outcome count as failed. */
  finish: () => string;
  /** Returns the whole answer for clients that do not stream. Called after `finish`. */
  buildWholeAnswer: () => JsonObject;
}
