import { z } from 'zod';
import { checkStreamOptions } from '../openai/check-stream-options.ts';
import { createProblemError } from '../openai/problem-error.ts';
import type { TextInputs } from '../text-inputs.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { arrayOf } from '../validation/loose-schema.ts';
import type { JsonObject } from '#shared/core/json.ts';

export type CompletionsRequest = JsonObject & {
  model: string;
  prompt: TextInputs;
  /** The text after the completion. Editors complete between prompt and suffix. */
  suffix?: string | null;
  max_tokens?: number | null;
  n?: number | null;
  best_of?: number | null;
  stream?: boolean | null;
  stream_options?: JsonObject | null;
  stop?: string | string[] | null;
};

const tokenList = arrayOf(z.int().min(0)).min(1);

/**
 * The fields of a text completion request that the router reads (OpenAI API reference, "Create completion", legacy). All other fields pass
 * unchecked. Optional fields may be null, as in OpenAI's API.
 */
const schema = z.looseObject({
  model: z.string().min(1),
  prompt: z.union([z.string(), tokenList, arrayOf(z.union([z.string(), tokenList])).min(1)]),
  suffix: z.string().nullish(),
  max_tokens: z.int().min(0).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().nullish(),
  n: z.int().min(1).nullish(),
  best_of: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({}).nullish(),
  stop: z.union([z.string(), arrayOf(z.string()).max(64)]).nullish(),
  echo: z.boolean().nullish(),
});

/**
 * Checks the body of a text completion request and returns the same object.
 * @throws RouterError `missing_parameter` or `invalid_request`; `param` is the field's path
 */
export function parseCompletionsRequest(body: unknown): CompletionsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  const request = body as CompletionsRequest;
  checkStreamOptions(request);
  return request;
}
