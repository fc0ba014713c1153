import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';

/** Why an answer ended, in the chat format's words. `function_call` is the older form of `tool_calls`. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/**
 * The reason that a client is told for what an engine said. Engines say `stop` in spite of tool calls, or have words of
 * their own for an ordinary end; a cut (`length`, `content_filter`) stays one even when it cut a tool call.
 * @throws RouterError `upstream_failed` when the engine says that it broke off
 */
export function readFinishReason(given: Json | undefined, hasToolCalls: boolean): FinishReason {
  switch (given) {
    case 'length':
    case 'max_tokens':
      return 'length';
    case 'content_filter':
      return 'content_filter';
    case 'function_call':
      return hasToolCalls ? 'tool_calls' : 'function_call';
    case 'error':
    case 'abort':
    case 'insufficient_system_resource':
      throw new RouterError('upstream_failed', `The upstream broke off its answer (${given}).`);
    default:
      return hasToolCalls ? 'tool_calls' : 'stop';
  }
}
