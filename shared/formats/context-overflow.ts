import { RouterError, type ErrorDetails } from '#shared/core/errors.ts';

/** Token counts of a request that does not fit into the model's context, as far as the upstream reports them. */
export interface Overflow {
  /** Absent if the upstream has not counted all of it. */
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
      ? output === undefined
        ? ''
        : ` However, you requested ${output} tokens in the completion.`
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

/** The answer header, in every format, with the limit of output tokens that a worker has lowered the client's to. */
export const fittedLimitHeader = 'x-rtr-max-tokens';

/** The error code in the details of `outputTooLarge`. */
const tooLarge = 'max_tokens_too_large';

/**
 * The error for a limit of output tokens above what the model generates at most.
 * @param message in the words that clients read the maximum from
 */
export function outputTooLarge(message: string, maximum: number): RouterError {
  const details = { error_code: tooLarge, maximum_output_tokens: String(maximum) };
  return new RouterError('invalid_request', message, { param: 'max_tokens', details });
}

/** What an upstream says about the output that a request may ask for: the most tokens, or the context that has to hold them. */
export type MostOutput =
  | { tokens: number; context?: undefined }
  | {
      tokens?: undefined;
      context: number;
      /** Undefined if the upstream has not counted it. */ input: number | undefined;
    };

/** Reads from the details of an error how many output tokens would be accepted; undefined if they are not what it is about. */
export function mostOutput(details: ErrorDetails['details']): MostOutput | undefined {
  if (!details) return undefined;
  const { error_code: code, ...counts } = details;
  const context = counts['maximum_tokens'];
  const input = counts['input_tokens'];
  if (code === tooLarge) return { tokens: Number(counts['maximum_output_tokens']) };
  if (code !== 'context_length_exceeded' || context === undefined || counts['output_tokens'] === undefined)
    return undefined;
  return { context: Number(context), input: input === undefined ? undefined : Number(input) };
}
