import type { Json } from '#shared/core/json.ts';

/** Converts a choice's finish reason to the semantic conventions. Returns `error` for an answer that has not finished. */
export function convertFinishReason(reason: Json | undefined): string {
  if (reason === 'tool_calls' || reason === 'function_call') return 'tool_call';
  return typeof reason === 'string' ? reason : 'error';
}
