import { type Json, isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { FinishReason } from '../upstreams/chat/finish-reason.ts';

/** The stop reasons of the `messages` format that a chat upstream's answer can have. */
export type StopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal';

/**
 * Returns the `messages` format's stop reason for the chat format's finish reason.
 * @param stopSequence the stop sequence that the engine reports, if any
 */
export function toStopReason(finishReason: FinishReason, stopSequence: string | null): StopReason {
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

/**
 * Replaces the finish reason of a refusal by `content_filter`, because the `messages` format has a stop reason for refusals. A Responses
 * upstream writes a refusal as text and reports an ordinary end.
 */
export function adjustFinishReason(finishReason: FinishReason, hasRefused: boolean): FinishReason {
  return hasRefused && finishReason === 'stop' ? 'content_filter' : finishReason;
}

/** Returns the stop sequence in a chat choice, if the engine reports it: vLLM in `stop_reason`, SGLang in `matched_stop`. */
export function readStopSequence(choice: { stop_reason?: Json; matched_stop?: Json }): string | null {
  const { stop_reason: vllm, matched_stop: sglang } = choice;
  if (typeof vllm === 'string') return vllm;
  return typeof sglang === 'string' ? sglang : null;
}

/** Returns the chat format's finish reason for the `messages` format's stop reason. An unknown reason is an ordinary end. */
export function toFinishReason(stopReason: Json | undefined, hasToolCalls: boolean): FinishReason {
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

/** Returns a `messages` upstream's explanation of its refusal, for the chat format's `refusal`; undefined if there is none. */
export function readRefusalText(message: JsonObject): string | undefined {
  const { stop_reason: reason, stop_details: details } = message;
  if (reason !== 'refusal' || !isJsonObject(details)) return undefined;
  return typeof details['explanation'] === 'string' ? details['explanation'] : undefined;
}
