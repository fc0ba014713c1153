import { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';

/** The finish reasons of the chat format. `function_call` is the older form of `tool_calls`. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/**
 * Returns the finish reason that the client gets for an engine's finish reason. Some engines report `stop` despite tool calls, or their own
 * reasons for an ordinary end. A cut-off answer (`length`, `content_filter`) takes precedence over tool calls.
 * @throws RouterError `upstream_failed` if the engine reports that it aborted
 */
export function readFinishReason(reason: Json | undefined, hasToolCalls: boolean): FinishReason {
  switch (reason) {
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
      throw new RouterError('upstream_failed', `The upstream broke off its answer (${reason}).`);
    default:
      return hasToolCalls ? 'tool_calls' : 'stop';
  }
}
