import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { formFileSchema, type FormFile } from '../form-file.ts';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** The fields of a transcription request that the router reads. `parseTranscriptionRequest` checks them. */
export type TranscriptionRequest = JsonObject & {
  model: string;
  file: FormFile & JsonObject;
  prompt?: string;
  response_format?: string;
};

/**
 * The fields of a transcription request that the router reads (OpenAI API reference, "Create transcription"). All other fields pass
 * unchecked.
 */
const schema = z.looseObject({
  model: z.string().min(1),
  file: formFileSchema,
  prompt: z.string().optional(),
  response_format: z.string().min(1).optional(),
  stream: z.string().optional(),
});

/**
 * Checks the form fields of a transcription request and returns the same object.
 * @throws RouterError `missing_parameter`, `invalid_request` or `unsupported_parameter`; `param` is the field's name
 */
export function parseTranscriptionRequest(body: unknown): TranscriptionRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  if (parsed.data.stream === 'true')
    throw new RouterError('unsupported_parameter', "Unsupported value for 'stream': the text comes whole.", {
      param: 'stream',
    });
  return body as TranscriptionRequest;
}
