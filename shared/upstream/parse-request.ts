import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { nestsTooDeeply } from '#shared/formats/nests-too-deeply.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';

/**
 * A job's body as the JSON object that it was when it came in.
 * @throws RouterError `internal` when it is none any more; `invalid_request` when it is nested too deeply to be written
 * again for an upstream
 */
export function parseRequest(body: Buffer): JsonObject {
  const parsed = parseUpstreamJson(body.toString());
  if (!isJsonObject(parsed)) throw new RouterError('internal', 'The job has no JSON object for a body.');
  if (nestsTooDeeply(parsed)) throw new RouterError('invalid_request', 'The request is nested too deeply.');
  return parsed;
}
