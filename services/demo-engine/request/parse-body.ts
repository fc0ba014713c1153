import type { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';

/**
 * Checks a body against a schema.
 * @throws RouterError `invalid_request` or `missing_parameter`, with the path of the first bad field, as `messages[0].content`
 */
export function parseBody<T extends z.ZodType>(schema: T, body: JsonObject): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const param = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  const missing = path.length === 1 && !Object.hasOwn(body, String(path[0]));
  throw new RouterError(
    missing ? 'missing_parameter' : 'invalid_request',
    missing ? `Missing required parameter: '${param}'.` : `Invalid value for '${param}': ${issue?.message}.`,
    { param: param === '' ? undefined : param },
  );
}
