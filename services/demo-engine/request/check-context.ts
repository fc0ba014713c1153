import { RouterError } from '#shared/core/errors.ts';

/**
 * The token limit of an answer: that of the request, else the rest of the context window after the prompt.
 * @throws RouterError `context_length_exceeded` when prompt and answer limit exceed the context window, in vLLM's words
 */
export function checkContext(allowed: number | undefined, promptTokens: number, contextWindow: number): number {
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
