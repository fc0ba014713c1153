import type { z } from 'zod';
import { describeIssueInSentence } from '#shared/core/describe-issue.ts';
import { ApiFailure } from './api-failure.ts';

/**
 * Parses an input with a schema.
 * @throws ApiFailure 400 that names the first invalid field
 */
export function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(input ?? {}, { error: describeIssueInSentence });
  if (success) return data;
  const [issue] = error.issues;
  const path = issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : (issue?.path ?? []);
  const field = path.map(String).join('.');
  const message = issue?.message ?? 'This is not valid.';
  throw new ApiFailure(400, 'invalid_request', message, field === '' ? {} : { field });
}
