import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Target } from '../translation.ts';

/**
 * The upstream's request for a chat client's: everything as it came but the model. A stream is asked to tell its usage,
 * because this router's clients get it whether they asked or not.
 */
export function chatToChatRequest(body: JsonObject, target: Target): JsonObject {
  const request: JsonObject = { ...body, model: target.model };
  if (body['stream'] === true) {
    const options = isJsonObject(body['stream_options']) ? body['stream_options'] : {};
    request['stream_options'] = { ...options, include_usage: true };
  }
  return request;
}
