import type { HostedKind } from '#shared/core/hosted-kind.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HostedOutcome } from './hosted-outcome.ts';

/** A tool of a request that runs beside the model: on its upstream, or on the router's tools tier. */
export interface HostedTool {
  kind: HostedKind;
  /** What the request says of it, for errors: `web_search_20250305`. */
  title: string;
  /** Its place in the request. */
  param: string;
  /** Whether the request can do without it where nothing runs it. */
  isOptional?: boolean | undefined;
  /** Calls of this tool in one answer at most; undefined if the request sets no limit. */
  maxUses?: number | undefined;
  /** Whether a page of this address may be found or fetched; undefined for any. */
  allowsUrl?: ((url: string) => boolean) | undefined;
  /** What else the request says of it, for a tool whose input has a field of that name; see `toolHints`. */
  hints?: JsonObject | undefined;
  /** Label of the MCP server whose tools these are. */
  label?: string | undefined;
  /** Whether the request allows a tool of the MCP server; undefined for all. */
  allowsTool?: ((name: string) => boolean) | undefined;
}

/** One tool of the tools tier. */
export interface ServedTool {
  /** Its name on the tools tier. */
  name: string;
  /** Its name on its MCP server, or the same. */
  ownName: string;
  description: string;
  inputSchema: JsonObject;
}

/** A hosted tool of a request, and the tools of the tools tier that stand behind it: one, or those of an MCP server. */
export interface RunnableTool {
  hosted: HostedTool;
  served: readonly ServedTool[];
}

/** A call of a hosted tool. */
export interface HostedCall {
  /** Unique within the answer. */
  id: string;
  hosted: HostedTool;
  served: ServedTool;
  /** The model's input: `{query}` for a search, `{url}` for a fetch, that of its own schema for a tool of an MCP server. */
  input: JsonObject;
}

/** The hosted tools of a checked request, and how its format has the router run them. */
export interface HostedRequest {
  tools: readonly HostedTool[];
  /** The error for a hosted tool that nothing can run. */
  refusal: (tool: HostedTool, reason: string) => RouterError;
  /** The request's body with functions of the client instead of its hosted tools; for counting its tokens. */
  asFunctions: (body: JsonObject, tools: readonly RunnableTool[]) => Buffer;
  /**
   * Begins the answer to the request.
   * @param body the request's, with the fields that the client left out
   */
  open: (body: JsonObject, tools: readonly RunnableTool[]) => HostedAnswer;
}

/**
 * One answer for which the router runs hosted tools: the model is asked, its calls are run, and it is asked again with their
 * results, until it answers or calls a tool of the client. The model sees the hosted tools as functions. Its turns, which are
 * streams of the client's format, become one stream.
 */
export interface HostedAnswer {
  /** Calls of all hosted tools together that the request allows; undefined if it sets no such limit. */
  readonly maxCalls?: number | undefined;
  /** Calls that the client has approved, to run before the model is asked. */
  readonly approved: readonly HostedCall[];
  /**
   * The body of the model's next request, which is for a stream.
   * @param isLast whether the model is not to call hosted tools any more; those of the client stay
   */
  next: (isLast: boolean) => Buffer;
  /**
   * Takes a piece of the model's turn and returns the client's events that it completes.
   * @throws RouterError `upstream_failed` if it cannot be read
   */
  relay: (piece: Uint8Array) => string;
  /** The model's turn is over. Returns the calls to run. */
  endTurn: () => readonly HostedCall[];
  /**
   * Whether the answer ends with this turn: the model has answered, was cut off, has called a tool of the client, or has used up the
   * output tokens of the request.
   */
  readonly isComplete: boolean;
  /** Whether a web address occurs in what others than the model have written. */
  namesAddress: (url: string) => boolean;
  /** Writes what came of a call. */
  answerCall: (call: HostedCall, outcome: HostedOutcome) => string;
  /** The events that end the answer. Calls without an outcome have failed. */
  finish: () => string;
  /** The whole answer, after `finish`, for clients that do not stream. */
  whole: () => JsonObject;
}
