import type { JsonObject } from '#shared/core/json.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';
import { requestsCompaction } from './compaction.ts';
import { type CalledTool, flattenTools } from './flatten-tools.ts';

/** The fields of a Responses request that its answer depends on. */
export interface RecalledRequest extends JsonObject {
  /** The fields that the response object repeats. */
  repeated: JsonObject;
  /** The client's tools by their flat names. The upstream calls tools by these names. */
  tools: Record<string, CalledTool>;
  /** Whether the summary of a reasoning item repeats its thinking. */
  summarizes: boolean;
  /** Whether reasoning items carry `encrypted_content`. */
  sealsReasoning: boolean;
  /** Whether the answer is one `compaction` item. */
  compacts: boolean;
}

/** Returns the fields of a request that the answer depends on, for `Translation.recall`. */
export function toRecalledRequest(body: JsonObject): RecalledRequest {
  const request = body as ResponsesRequest;
  return {
    repeated: readRepeatedFields(request),
    tools: Object.fromEntries(flattenTools(request).clientTools),
    summarizes: typeof (request.reasoning?.summary ?? request.reasoning?.['generate_summary']) === 'string',
    // A later request may refer to a stored answer. The thinking of the answer must then be complete.
    sealsReasoning: request.store !== false || request.include?.includes('reasoning.encrypted_content') === true,
    compacts: requestsCompaction(body),
  };
}

/** Returns the recalled fields of a request; without any, the fields of a request without settings. */
export function readRecalled(recalled: JsonObject | undefined): RecalledRequest {
  return (recalled as RecalledRequest | undefined) ?? toRecalledRequest({});
}
