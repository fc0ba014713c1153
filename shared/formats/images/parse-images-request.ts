import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import type { JsonObject } from '#shared/core/json.ts';

export type ImagesRequest = JsonObject & {
  model?: string | null;
  prompt: string;
  n?: number | null;
  stream?: boolean | null;
};

/** The fields of an image request that the router reads (OpenAI API reference, "Create image"). All other fields pass unchecked. */
const schema = z.looseObject({
  model: z.string().min(1).nullish(),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).nullish(),
  stream: z.boolean().nullish(),
});

/**
 * Checks the body of an image request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's path
 */
export function parseImagesRequest(body: unknown): ImagesRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  if (parsed.data.stream === true)
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': pictures come whole.", {
      param: 'stream',
    });
  return body as ImagesRequest;
}
