import { RouterError, type ErrorDetails } from '#shared/core/errors.ts';

/** Token counts of a request that does not fit into the model's context, as far as the upstream reports them. */
export interface Overflow {
  /** Input tokens; absent if the upstream has not counted all of them. */
  input?: number | undefined;
  /** Requested output tokens, if input and output together exceed the limit. */
  output?: number | undefined;
  maximum?: number | undefined;
}

const overflowCode = 'context_length_exceeded';

/**
 * Returns the error for a request that does not fit into the model's context. Its details carry the counts, so that each format can write
 * the message that its clients expect.
 */
export function createOverflowError(counts: Overflow): RouterError {
  const { input, output, maximum } = counts;
  return new RouterError('context_length_exceeded', writeOverflowText(counts), {
    details: {
      error_code: overflowCode,
      ...(input !== undefined && { input_tokens: String(input) }),
      ...(output !== undefined && { output_tokens: String(output) }),
      ...(maximum !== undefined && { maximum_tokens: String(maximum) }),
    },
  });
}

/**
 * Returns the message of a context overflow.
 * @param inputName the client's word for its input
 */
export function writeOverflowText({ input, output, maximum }: Overflow, inputName = 'input'): string {
  const limit =
    maximum === undefined
      ? "This model's maximum context length is exceeded."
      : `This model's maximum context length is ${maximum} tokens.`;
  const requested =
    input === undefined
      ? output === undefined
        ? ''
        : ` However, you requested ${output} tokens in the completion.`
      : output === undefined
        ? ` However, your ${inputName} resulted in ${input} tokens.`
        : ` However, you requested ${input + output} tokens (${input} in the ${inputName}, ${output} in the completion).`;
  return `${limit}${requested} Please reduce the length of the ${inputName}.`;
}

/** Reads the counts of an error that `createOverflowError` returned; undefined for any other error. */
export function readOverflow(details: ErrorDetails['details']): Overflow | undefined {
  if (details?.error_code !== overflowCode) return undefined;
  const count = (field: string): number | undefined =>
    details[field] === undefined ? undefined : Number(details[field]);
  return { input: count('input_tokens'), output: count('output_tokens'), maximum: count('maximum_tokens') };
}

/** Whether an error reports a context overflow with the maximum but without the number of input tokens. */
export function lacksInputTokens(error: unknown): error is RouterError {
  const counts = error instanceof RouterError ? readOverflow(error.details) : undefined;
  return counts?.maximum !== undefined && counts.input === undefined;
}

/**
 * Adds the number of input tokens to a context overflow. Returns the same error if input and output would fit, because then that number
 * does not explain the error.
 */
export function withInputTokens(error: RouterError, input: number): RouterError {
  const counts = readOverflow(error.details) ?? {};
  const isWithinMaximum = input + (counts.output ?? 0) <= (counts.maximum ?? Infinity);
  return isWithinMaximum ? error : createOverflowError({ ...counts, input });
}

/**
 * The answer header that contains the limit of output tokens if a worker has lowered the client's limit. The name is the same in every
 * format.
 */
export const fittedLimitHeader = 'x-rtr-max-tokens';

const outputTooLargeCode = 'max_tokens_too_large';

/**
 * Returns the error for a request that allows more output tokens than the model can generate.
 * @param message the message, in the wording from which clients parse the maximum
 */
export function createOutputLimitError(message: string, maximum: number): RouterError {
  const details = { error_code: outputTooLargeCode, maximum_output_tokens: String(maximum) };
  return new RouterError('invalid_request', message, { param: 'max_tokens', details });
}

/** The largest output that an upstream accepts: a number of tokens, or the rest of a context that holds input and output. */
export type OutputBound =
  | { tokens: number; context?: undefined }
  | {
      tokens?: undefined;
      context: number;
      /** Undefined if the upstream has not counted the input. */
      input: number | undefined;
    };

/** Reads the largest accepted output from the details of an error; undefined for an error about something else. */
export function readOutputBound(details: ErrorDetails['details']): OutputBound | undefined {
  if (details?.error_code === outputTooLargeCode) return { tokens: Number(details['maximum_output_tokens']) };
  const { input, output, maximum } = readOverflow(details) ?? {};
  return maximum === undefined || output === undefined ? undefined : { context: maximum, input };
}
