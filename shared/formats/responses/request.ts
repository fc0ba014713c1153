import type { Json, JsonObject } from '#shared/core/json.ts';

/*
 * The fields of a Responses request that the router reads (OpenAI API reference, "Create a model response"). All objects may have further
 * fields. The rules of each translation decide whether these fields reach the upstream or are ignored.
 */

export interface ResponsesRequest extends JsonObject {
  model: string;
  /** A string stands for one message of the user. */
  input?: string | ResponsesItem[];
  instructions?: string | null;
  tools?: ResponsesTool[] | null;
  tool_choice?: string | (JsonObject & { type: string }) | null;
  parallel_tool_calls?: boolean | null;
  stream?: boolean | null;
  store?: boolean | null;
  background?: boolean | null;
  background_options?: ({ completion_window?: string | null } & JsonObject) | null;
  previous_response_id?: string | null;
  max_output_tokens?: number | null;
  temperature?: number | null;
  top_p?: number | null;
  reasoning?: ({ effort?: string | null; summary?: string | null } & JsonObject) | null;
  text?: ({ format?: (JsonObject & { type: string }) | null; verbosity?: string | null } & JsonObject) | null;
  include?: string[] | null;
  prompt_cache_key?: string | null;
  service_tier?: string | null;
}

/** A content part of a message or of a tool's output. */
export type ResponsesPart =
  | ({ type: 'input_text' | 'output_text' | 'text' | 'summary_text' | 'reasoning_text'; text: string } & JsonObject)
  | ({ type: 'refusal'; refusal: string } & JsonObject)
  | ({ type: 'input_image'; image_url?: string | null; file_id?: string | null; detail?: string | null } & JsonObject)
  | ({
      type: 'input_file';
      file_data?: string | null;
      file_url?: string | null;
      file_id?: string | null;
      filename?: string | null;
    } & JsonObject);

export interface ResponsesMessage extends JsonObject {
  type?: 'message';
  role: 'user' | 'assistant' | 'system' | 'developer';
  content: string | ResponsesPart[];
}

export interface ResponsesFunctionCall extends JsonObject {
  type: 'function_call';
  call_id: string;
  name: string;
  /** The group of tools that the name belongs to, such as one MCP server. */
  namespace?: string | null;
  arguments: string;
}

export interface ResponsesCustomCall extends JsonObject {
  type: 'custom_tool_call';
  call_id: string;
  name: string;
  namespace?: string | null;
  /** Free text, in the grammar of the tool. */
  input: string;
}

/** The output of a tool. If no call asked for it, `call_id` is missing, and `name` says what the client adds: Codex tells its goal so. */
export interface ResponsesToolOutput extends JsonObject {
  type: 'function_call_output' | 'custom_tool_call_output';
  call_id?: string | null;
  name?: string | null;
  namespace?: string | null;
  output: string | ResponsesPart[];
}

/** A search for further tools. A search that a server has run has no `call_id`. */
export interface ResponsesToolSearchCall extends JsonObject {
  type: 'tool_search_call';
  call_id?: string | null;
  arguments?: Json;
}

export interface ResponsesToolSearchOutput extends JsonObject {
  type: 'tool_search_output';
  call_id?: string | null;
  /** The tools that the search found. The model can call them from this point on. */
  tools?: ResponsesTool[] | null;
}

export interface ResponsesReasoning extends JsonObject {
  type: 'reasoning';
  summary?: { type: 'summary_text'; text: string }[];
  content?: { type: 'reasoning_text' | 'text'; text: string }[] | null;
  /** The encrypted state from which the upstream, or this router, continues the thinking. */
  encrypted_content?: string | null;
}

/** One item of the input. Items of types that are not listed here are objects with a `type`. */
export type ResponsesItem =
  | ResponsesMessage
  | ResponsesFunctionCall
  | ResponsesCustomCall
  | ResponsesToolOutput
  | ResponsesToolSearchCall
  | ResponsesToolSearchOutput
  | ResponsesReasoning
  | (JsonObject & { type: string });

export interface ResponsesFunctionTool extends JsonObject {
  type: 'function';
  name: string;
  description?: string | null;
  parameters?: JsonObject | null;
  strict?: boolean | null;
}

/** A tool whose input is free text, optionally in a grammar. */
export interface ResponsesCustomTool extends JsonObject {
  type: 'custom';
  name: string;
  description?: string | null;
  format?: JsonObject | null;
}

/** A group of tools. Their calls carry the group's name as `namespace`. */
export interface ResponsesNamespace extends JsonObject {
  type: 'namespace';
  name: string;
  tools?: ResponsesTool[] | null;
}

export type ResponsesTool =
  | ResponsesFunctionTool
  | ResponsesCustomTool
  | ResponsesNamespace
  | (JsonObject & { type: string });
