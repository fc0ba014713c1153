import type { Json, JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { directCaller } from './hosted/hosted-result-block.ts';
import { writeMessagesUsage } from './usage.ts';

/** The fields that differ between answers. `usage` of an incomplete answer is the usage so far. */
export interface MessageFacts {
  id: string;
  model: string;
  content: JsonObject[];
  ending: MessageEnding;
  usage: Usage;
}

/** How an answer ended. Both fields are null for an incomplete answer. */
export interface MessageEnding {
  stop_reason: Json;
  stop_sequence: string | null;
}

/**
 * Returns an answer in the `messages` format, with all fields that the official types require (Anthropic API reference, "Create a
 * Message").
 */
export function createMessageObject({ id, model, content, ending, usage }: MessageFacts): JsonObject {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    ...createEndingFields(ending),
    diagnostics: null,
    usage: {
      ...writeMessagesUsage(usage),
      cache_creation: null,
      inference_geo: null,
      service_tier: null,
      speed: null,
    },
  };
}

/** Returns the fields that report how an answer ended, for the answer itself or for the `delta` of `message_delta`. */
export function createEndingFields({ stop_reason: reason, stop_sequence: sequence }: MessageEnding): JsonObject {
  return { stop_reason: reason, stop_sequence: sequence, stop_details: null, container: null };
}

export function createTextBlock(text: string): JsonObject {
  return { type: 'text', text, citations: null };
}

export function createToolUseBlock(id: string, name: string, input: JsonObject): JsonObject {
  return { type: 'tool_use', id, name, input, caller: directCaller };
}
