import { RouterError } from '#shared/core/errors.ts';

/** Token counts of a request that does not fit into the model's context, as far as the upstream reports them. */
export interface Overflow {
  input?: number | undefined;
  /** Requested output tokens, if they exceed the limit. */
  output?: number | undefined;
  maximum?: number | undefined;
}

/**
 * The error for a request that does not fit into the model's context. Its details carry the counts, so that each format
 * can write the message that its clients expect.
 */
export function contextOverflow({ input, output, maximum }: Overflow): RouterError {
  const limit =
    maximum === undefined
      ? "This model's maximum context length is exceeded."
      : `This model's maximum context length is ${maximum} tokens.`;
  const asked =
    input === undefined
      ? ''
      : output === undefined
        ? ` However, your messages resulted in ${input} tokens.`
        : ` However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion).`;
  return new RouterError('context_length_exceeded', `${limit}${asked} Please reduce the length of the messages.`, {
    param: 'messages',
    details: {
      error_code: 'context_length_exceeded',
      ...(input !== undefined && { input_tokens: String(input) }),
      ...(output !== undefined && { output_tokens: String(output) }),
      ...(maximum !== undefined && { maximum_tokens: String(maximum) }),
    },
  });
}
