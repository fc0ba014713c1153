import type { Json, JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { directCaller } from './hosted/hosted-result-block.ts';
import { writeMessagesUsage } from './usage.ts';

/** What is said of an answer; of one that has only begun, the usage so far. */
export interface MessageFacts {
  id: string;
  model: string;
  content: JsonObject[];
  ending: MessageEnding;
  usage: Usage;
}

/** How an answer has ended; nulls for one that has only begun. */
export interface MessageEnding {
  stop_reason: Json;
  stop_sequence: string | null;
}

/** An answer in the messages format, with all fields that the official types require (Anthropic API reference, "Create a Message"). */
export function messageObject({ id, model, content, ending, usage }: MessageFacts): JsonObject {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    ...endingFields(ending),
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

/** The fields of an answer's end, in the answer itself or in the `delta` of `message_delta`. */
export function endingFields({ stop_reason: reason, stop_sequence: sequence }: MessageEnding): JsonObject {
  return { stop_reason: reason, stop_sequence: sequence, stop_details: null, container: null };
}

/** A block of text in an answer. */
export function textBlock(text: string): JsonObject {
  return { type: 'text', text, citations: null };
}

/** A call of a client's tool in an answer. */
export function toolUseBlock(id: string, name: string, input: JsonObject): JsonObject {
  return { type: 'tool_use', id, name, input, caller: directCaller };
}
