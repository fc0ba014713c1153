import { type Json, isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { FinishReason } from '../upstreams/chat/finish-reason.ts';

/** Why an answer ended, in the messages format's words, as far as a chat upstream can tell. */
export type StopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal';

/**
 * The messages format's word for the chat format's.
 * @param stopSequence the stop text that the engine says it met, if it says so
 */
export function stopReasonFor(finishReason: FinishReason, stopSequence: string | null): StopReason {
  switch (finishReason) {
    case 'stop':
      return stopSequence === null ? 'end_turn' : 'stop_sequence';
    case 'length':
      return 'max_tokens';
    case 'tool_calls':
    case 'function_call':
      return 'tool_use';
    case 'content_filter':
      return 'refusal';
  }
}

/** The stop text in a chat choice, where the engine tells it: vLLM in `stop_reason`, SGLang in `matched_stop`. */
export function matchedStop(choice: { stop_reason?: Json; matched_stop?: Json }): string | null {
  const { stop_reason: vllm, matched_stop: sglang } = choice;
  if (typeof vllm === 'string') return vllm;
  return typeof sglang === 'string' ? sglang : null;
}

/** The chat format's word for the messages format's. A reason that is new to the router is an ordinary end. */
export function finishReasonFor(stopReason: Json | undefined, hasToolCalls: boolean): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'content_filter';
    default:
      return hasToolCalls ? 'tool_calls' : 'stop';
  }
}

/** Why a messages upstream refused, where it says so: the chat format's `refusal`. */
export function refusalText(message: JsonObject): string | undefined {
  const { stop_reason: reason, stop_details: details } = message;
  if (reason !== 'refusal' || !isJsonObject(details)) return undefined;
  return typeof details['explanation'] === 'string' ? details['explanation'] : undefined;
}
