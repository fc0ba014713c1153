import { RouterError } from '#shared/core/errors.ts';
import type { ListSizes } from '#shared/core/json-lists.ts';
import { parseJsonText, type JsonText } from '#shared/core/json-text.ts';
import { isJsonObject, nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';

const emptyBytes = Buffer.alloc(0);

/** The parsed body of a job. */
export interface ParsedRequest extends Pick<JsonText, 'hasUnreadLists'> {
  request: JsonObject;
  /** Writes the upstream's request, which was translated from `request`. */
  write: JsonText['write'];
  /** Runs a check of the request that does not read long strings to their ends. */
  skim: JsonText['skim'];
}

/**
 * Parses a job's body, which the ingress has validated. Removes the body from the job, because it may have many megabytes and the answer
 * may stream for minutes. Every worker reads its jobs with this function.
 * @param unreadLists lists of the body that this worker does not read
 * @throws RouterError `internal` for a body that is not a JSON object; `invalid_request` for a body that is nested too deeply to be
 * serialized for an upstream
 */
export function readRequest(job: { body: Buffer }, unreadLists?: ListSizes): ParsedRequest {
  const { body } = job;
  job.body = emptyBytes;
  const parsed = parse(body, unreadLists);
  const value = parsed?.value;
  if (!parsed || !isJsonObject(value)) throw new RouterError('internal', 'The job has no JSON object for a body.');
  if (parsed.skim(() => nestsTooDeeply(value)))
    throw new RouterError('invalid_request', 'The request is nested too deeply.');
  const { write, skim, hasUnreadLists } = parsed;
  return { request: value, write, skim, hasUnreadLists };
}

function parse(body: Buffer, unreadLists: ListSizes | undefined): JsonText | undefined {
  try {
    return parseJsonText(body, unreadLists);
  } catch {
    return undefined;
  }
}
