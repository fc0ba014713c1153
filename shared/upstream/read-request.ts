import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';

const nothing = Buffer.alloc(0);

/**
 * Parses a job's body, which the ingress has checked, and releases it: a body may have many megabytes, and its answer may
 * stream for minutes. Every worker reads its jobs with this.
 * @throws RouterError `internal` for a body that is not a JSON object; `invalid_request` for one nested too deeply to be
 * serialized for an upstream
 */
export function readRequest(job: { body: Buffer }): JsonObject {
  const { body } = job;
  job.body = nothing;
  const parsed = parseUpstreamJson(body.toString());
  if (!isJsonObject(parsed)) throw new RouterError('internal', 'The job has no JSON object for a body.');
  if (nestsTooDeeply(parsed)) throw new RouterError('invalid_request', 'The request is nested too deeply.');
  return parsed;
}
