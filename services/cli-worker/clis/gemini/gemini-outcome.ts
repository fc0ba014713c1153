import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { createOverflowError } from '#shared/formats/context-overflow.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { Outcome } from '../../answer/dialogue.ts';
import { JsonRpcError } from '../../process/json-rpc-peer.ts';
import { readErrorText } from '../cli.ts';
import type { RecordedAnswer } from './saved-conversation.ts';

/**
 * Reads how an answer ended from the result of its prompt, and from Gemini CLI's record of the answer.
 * @throws RouterError if the answer was cut off; Gemini CLI then reports `end_turn` but has recorded no tokens
 */
export function readGeminiOutcome({ stopReason }: JsonObject, { usage, calls }: RecordedAnswer): Outcome {
  if (stopReason === 'cancelled')
    throw new RouterError('upstream_failed', 'The CLI stopped before its answer was complete.');
  if (usage === undefined) {
    // Gemini CLI counts the tokens of a conversation first, and sends no request if there are too many.
    if (stopReason === 'max_tokens') throw createOverflowError({});
    throw new RouterError('upstream_failed', 'The upstream ended the answer before it was complete.');
  }
  return { finishReason: calls.length > 0 ? 'tool_calls' : toFinishReason(stopReason), usage };
}

/**
 * Maps an error of Gemini CLI to the router's error. Gemini CLI's codes are the upstream's HTTP statuses. Returns other errors unchanged.
 */
export function mapGeminiError(method: string, error: unknown): unknown {
  if (!(error instanceof JsonRpcError)) return error;
  const { code, message } = error;
  if (typeof code === 'number' && code >= 400 && code <= 599) {
    return upstreamError({ status: code, message: readErrorText(message), retryAfter: undefined });
  }
  return new RouterError('upstream_failed', `The CLI refused '${method}'.`, { cause: error });
}

function toFinishReason(stopReason: Json | undefined): string {
  switch (stopReason) {
    case 'max_tokens':
      return 'length';
    case 'refusal':
      return 'content_filter';
    default:
      return 'stop';
  }
}
