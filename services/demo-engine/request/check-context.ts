import { RouterError } from '#shared/core/errors.ts';
import type { ChatRequest } from './chat-request.ts';

/**
 * The tokens an answer may have: what the request allows, else the room that the prompt leaves in the context window.
 * @throws RouterError `context_length_exceeded` when prompt and allowed answer do not fit together, in vLLM's words
 */
export function checkContext(request: ChatRequest, promptTokens: number, contextWindow: number): number {
  const allowed = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const room = contextWindow - promptTokens;
  if (room >= (allowed ?? 1)) return allowed ?? room;
  throw new RouterError(
    'context_length_exceeded',
    `This model's maximum context length is ${contextWindow} tokens. However, you requested ` +
      `${promptTokens + (allowed ?? 0)} tokens (${promptTokens} in the messages, ${allowed ?? 0} in the completion). ` +
      'Please reduce the length of the messages or completion.',
    { param: 'messages' },
  );
}
