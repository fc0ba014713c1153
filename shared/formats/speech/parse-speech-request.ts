import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import type { JsonObject } from '#shared/core/json.ts';

export type SpeechRequest = JsonObject & {
  model: string;
  input: string;
};

/** The fields of a speech request that the router reads (OpenAI API reference, "Create speech"). All other fields pass unchecked. */
const schema = z.looseObject({
  model: z.string().min(1),
  input: z.string().min(1),
  voice: z.union([z.string().min(1), z.looseObject({})]).nullish(),
  response_format: z.string().nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  stream_format: z.string().nullish(),
});

/**
 * Checks the body of a speech request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's path
 */
export function parseSpeechRequest(body: unknown): SpeechRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  if (parsed.data.stream_format === 'sse')
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream_format': sound comes as bytes.", {
      param: 'stream_format',
    });
  return body as SpeechRequest;
}
