import type { JsonObject } from '#shared/core/json.ts';

/** A content part of a message. Parts of unknown types reach upstreams of the same format unchanged. */
export type ChatPart =
  | (JsonObject & { type: 'text'; text: string })
  | (JsonObject & { type: 'image_url'; image_url: JsonObject & { url: string } })
  | (JsonObject & { type: 'file'; file: JsonObject })
  | (JsonObject & { type: 'input_audio'; input_audio: JsonObject })
  | (JsonObject & { type: 'refusal'; refusal: string });

/** A model's call of a client's function. `arguments` is JSON text as the model wrote it, valid or not. */
export type ChatToolCall = JsonObject & {
  id: string;
  type: 'function';
  function: JsonObject & { name: string; arguments: string };
};

/** A model's call of a client's custom tool. `input` is any text. */
export type ChatCustomCall = JsonObject & {
  id: string;
  type: 'custom';
  custom: JsonObject & { name: string; input: string };
};

export type ChatContent = string | ChatPart[];

export type ChatMessage =
  | (JsonObject & { role: 'system' | 'developer' | 'user'; content: ChatContent })
  | (JsonObject & {
      role: 'assistant';
      content?: ChatContent | null;
      tool_calls?: (ChatToolCall | ChatCustomCall)[] | null;
    })
  | (JsonObject & { role: 'tool'; tool_call_id: string; content: ChatContent });

export type ChatTool = JsonObject & {
  type: 'function';
  function: JsonObject & {
    name: string;
    description?: string | null;
    parameters?: JsonObject | null;
    strict?: boolean | null;
  };
};

/** A tool that takes plain text in place of JSON arguments. */
export type ChatCustomTool = JsonObject & {
  type: 'custom';
  custom: JsonObject & {
    name: string;
    description?: string | null;
    /** `{type: "text"}`, or `{type: "grammar", grammar: {syntax, definition}}`. */
    format?: JsonObject | null;
  };
};

export type ChatToolChoice = 'auto' | 'none' | 'required' | (JsonObject & { type: string });

export type ChatRequest = JsonObject & {
  model: string;
  messages: ChatMessage[];
  stream?: boolean | null;
  stream_options?: JsonObject | null;
  temperature?: number | null;
  top_p?: number | null;
  max_tokens?: number | null;
  max_completion_tokens?: number | null;
  n?: number | null;
  stop?: string | string[] | null;
  tools?: (ChatTool | ChatCustomTool)[] | null;
  tool_choice?: ChatToolChoice | null;
  parallel_tool_calls?: boolean | null;
  response_format?: (JsonObject & { type: string }) | null;
  /** A level such as `high`, or a number between 0 and 1 (SGLang). */
  reasoning_effort?: string | number | null;
};
