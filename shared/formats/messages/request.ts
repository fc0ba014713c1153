import type { Json, JsonObject } from '#shared/core/json.ts';

/** The source of an image or document. Sources of unknown types reach upstreams of the same format unchanged. */
export type MessagesSource =
  | (JsonObject & { type: 'base64'; media_type: string; data: string })
  | (JsonObject & { type: 'url'; url: string })
  | (JsonObject & { type: 'text'; data: string })
  | (JsonObject & { type: 'content'; content: string | MessagesBlock[] })
  | (JsonObject & { type: 'file'; file_id: string });

export type TextBlock = JsonObject & { type: 'text'; text: string };
export type ImageBlock = JsonObject & { type: 'image'; source: MessagesSource };
export type DocumentBlock = JsonObject & {
  type: 'document';
  source: MessagesSource;
  title?: string | null;
  context?: string | null;
};
export type ThinkingBlock = JsonObject & { type: 'thinking'; thinking: string; signature: string };
export type ToolUseBlock = JsonObject & { type: 'tool_use'; id: string; name: string; input: JsonObject };
export type ToolResultBlock = JsonObject & {
  type: 'tool_result';
  tool_use_id: string;
  content?: string | MessagesBlock[] | null;
  is_error?: boolean | null;
};

/** A tool that a search among deferred tools has found. The model may call it from this point on. */
export type ToolReferenceBlock = JsonObject & { type: 'tool_reference'; tool_name: string };
/** Adds or removes a tool in the middle of the conversation, in a message of the role `system`. */
export type ToolChangeBlock = JsonObject & { type: 'tool_addition' | 'tool_removal'; tool: JsonObject };
export type ServerToolUseBlock = JsonObject & { type: 'server_tool_use'; id: string; name: string; input: JsonObject };
export type HostedResultBlock = JsonObject & {
  type: 'web_search_tool_result' | 'web_fetch_tool_result';
  tool_use_id: string;
  content: Json;
};
/** A summary that replaces the conversation before it. A failed compaction has no text. */
export type CompactionBlock = JsonObject & {
  type: 'compaction';
  content?: string | null;
  tool_changes?: ToolChangeBlock[] | null;
};

export type MessagesBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | ThinkingBlock
  | (JsonObject & { type: 'redacted_thinking'; data: string })
  | ToolUseBlock
  | ToolResultBlock
  | ToolReferenceBlock
  | ToolChangeBlock
  | ServerToolUseBlock
  | HostedResultBlock
  | CompactionBlock;

export type MessagesMessage = JsonObject & {
  role: 'user' | 'assistant' | 'system';
  content: string | MessagesBlock[];
};

/**
 * A tool of a request. A tool that the client defines has no type, or the type `custom`. Anthropic defines the tools of all other types.
 * They run on the upstream or at the client (see `isClientTool`).
 */
export type MessagesTool = JsonObject & {
  type?: string | null;
  name: string;
  description?: string | null;
  input_schema?: JsonObject;
  strict?: boolean | null;
};

export type MessagesToolChoice = JsonObject & { disable_parallel_tool_use?: boolean | null } & (
    | { type: 'auto' | 'any' | 'none' }
    | { type: 'tool'; name: string }
  );

/**
 * The fields of a messages or token count request that the router reads. `parseMessagesRequest` or `parseCountTokensRequest` checks them.
 */
export type MessagesRequest = JsonObject & {
  model: string;
  messages: MessagesMessage[];
  system?: string | TextBlock[] | null;
  /** Absent only in a token count request. */
  max_tokens?: number;
  stream?: boolean | null;
  temperature?: number | null;
  top_p?: number | null;
  top_k?: number | null;
  stop_sequences?: string[] | null;
  tools?: MessagesTool[] | null;
  tool_choice?: MessagesToolChoice | null;
  thinking?: (JsonObject & { type: string; budget_tokens?: number }) | null;
  output_config?: (JsonObject & { effort?: string | null; format?: JsonObject | null }) | null;
  output_format?: JsonObject | null;
  context_management?: JsonObject | null;
  metadata?: (JsonObject & { user_id?: string | null }) | null;
};

/** Returns the texts of system content, without empty texts and Claude Code's billing header. */
export function readSystemTexts(content: string | readonly MessagesBlock[]): string[] {
  const texts =
    typeof content === 'string' ? [content] : content.map((block) => (block.type === 'text' ? block.text : ''));
  return texts.filter((text) => text !== '' && !isBillingHeader(text));
}

const billingHeader = 'x-anthropic-billing-header:';

/**
 * Whether a system text is Claude Code's version, which is not meant for the model. It may differ between requests of one conversation, so
 * it would defeat prefix caches.
 */
export function isBillingHeader(text: string): boolean {
  return text.startsWith(billingHeader);
}
