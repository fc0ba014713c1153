import { RouterError, type ErrorDetails } from '#shared/core/errors.ts';

/** Token counts of a request that does not fit into the model's context, as far as the upstream reports them. */
export interface Overflow {
  /** Absent if the upstream has not counted all of it. */
  input?: number | undefined;
  /** Requested output tokens, if they exceed the limit. */
  output?: number | undefined;
  maximum?: number | undefined;
}

/** The error code in the details of `contextOverflow`. */
const overflowCode = 'context_length_exceeded';

/**
 * The error for a request that does not fit into the model's context. Its details carry the counts, so that each format
 * can write the message that its clients expect.
 */
export function contextOverflow(counts: Overflow): RouterError {
  const { input, output, maximum } = counts;
  return new RouterError('context_length_exceeded', overflowText(counts), {
    details: {
      error_code: overflowCode,
      ...(input !== undefined && { input_tokens: String(input) }),
      ...(output !== undefined && { output_tokens: String(output) }),
      ...(maximum !== undefined && { maximum_tokens: String(maximum) }),
    },
  });
}

/**
 * What such an error says.
 * @param what the client's word for what it has sent
 */
export function overflowText({ input, output, maximum }: Overflow, what = 'input'): string {
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
        ? ` However, your ${what} resulted in ${input} tokens.`
        : ` However, you requested ${input + output} tokens (${input} in the ${what}, ${output} in the completion).`;
  return `${limit}${asked} Please reduce the length of the ${what}.`;
}

/** The counts of an error that `contextOverflow` has made; undefined for any other. */
export function overflowIn(details: ErrorDetails['details']): Overflow | undefined {
  if (details?.error_code !== overflowCode) return undefined;
  const count = (field: string): number | undefined =>
    details[field] === undefined ? undefined : Number(details[field]);
  return { input: count('input_tokens'), output: count('output_tokens'), maximum: count('maximum_tokens') };
}

/** Whether an error says that a request does not fit, and not how many tokens its input has. */
export function lacksInput(error: unknown): error is RouterError {
  const counts = error instanceof RouterError ? overflowIn(error.details) : undefined;
  return counts?.maximum !== undefined && counts.input === undefined;
}

/** Such an error with the number of input tokens; as it is where these would fit, so that they are not what does not. */
export function withInput(error: RouterError, input: number): RouterError {
  const counts = overflowIn(error.details) ?? {};
  const doesFit = input + (counts.output ?? 0) <= (counts.maximum ?? Infinity);
  return doesFit ? error : contextOverflow({ ...counts, input });
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
  if (details?.error_code === tooLarge) return { tokens: Number(details['maximum_output_tokens']) };
  const { input, output, maximum } = overflowIn(details) ?? {};
  return maximum === undefined || output === undefined ? undefined : { context: maximum, input };
}
