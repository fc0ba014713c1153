import { RouterError } from '#shared/core/errors.ts';

/**
 * Returns the token limit of an answer: the limit in the request or, without such a limit, the part of the context window after the prompt.
 * @throws RouterError `context_length_exceeded`, with vLLM's wording, when prompt and limit exceed the context window
 */
export function computeMaxTokens(
  requestedTokens: number | undefined,
  promptTokens: number,
  contextWindow: number,
): number {
  const room = contextWindow - promptTokens;
  if (room >= (requestedTokens ?? 1)) return requestedTokens ?? room;
  throw new RouterError(
    'context_length_exceeded',
    `This model's maximum context length is ${contextWindow} tokens. However, you requested ` +
      `${promptTokens + (requestedTokens ?? 0)} tokens (${promptTokens} in the messages, ${requestedTokens ?? 0} in the completion). ` +
      'Please reduce the length of the messages or completion.',
    { param: 'messages' },
  );
}
