import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { formFileSchema } from '../form-file.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** The fields of an image edit request that the router reads, as form texts. `parseImageEditsRequest` checks them. */
export type ImageEditsRequest = JsonObject & {
  model?: string;
  prompt: string;
  n?: string;
};

/**
 * The fields of an image edit request that the router reads (OpenAI API reference, "Create image edit"). All other fields pass unchecked.
 */
const schema = z.looseObject({
  model: z.string().min(1).optional(),
  image: formFileSchema.optional(),
  'image[]': z.array(formFileSchema).min(1).optional(),
  mask: formFileSchema.optional(),
  prompt: z.string().min(1),
  n: z.enum(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']).optional(),
  stream: z.string().optional(),
});

/**
 * Checks the form fields of an image edit request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's name
 */
export function parseImageEditsRequest(body: unknown): ImageEditsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const { image, 'image[]': images, stream } = parsed.data;
  if (!image && !images)
    throw new RouterError('missing_parameter', "Missing required parameter: 'image'.", { param: 'image' });
  if (stream === 'true')
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': pictures come whole.", {
      param: 'stream',
    });
  return body as ImageEditsRequest;
}
