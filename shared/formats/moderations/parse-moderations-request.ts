import { z } from 'zod';
import { createProblemError } from '../openai/problem-error.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { arrayOf, openUnion } from '../validation/loose-schema.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** An input to judge. Inputs of unknown types reach the upstream unchanged. */
export type ModerationsPart = JsonObject & { type: string; text?: string };

export type ModerationsRequest = JsonObject & {
  model?: string | null;
  input: string | string[] | ModerationsPart[];
};

const part = openUnion('type', {
  text: z.looseObject({ text: z.string() }),
  image_url: z.looseObject({ image_url: z.looseObject({ url: z.string() }) }),
});

/** The fields of a moderation request that the router reads (OpenAI API reference, "Create moderation"). */
const schema = z.looseObject({
  model: z.string().min(1).nullish(),
  input: z.union([z.string().min(1), arrayOf(z.union([z.string().min(1), part])).min(1)]),
});

/**
 * Checks the body of a moderation request and returns the same object.
 * @throws RouterError `missing_parameter` or `invalid_request`; `param` is the field's path
 */
export function parseModerationsRequest(body: unknown): ModerationsRequest {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw createProblemError(findFirstProblem(parsed.error, body));
  return body as ModerationsRequest;
}
