import { isJsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';

const leadingType = /^\s*\{\s*"type"\s*:\s*"([\w.-]+)"/;
const trailingType = /[{,]\s*"type"\s*:\s*"([\w.-]+)"\s*\}\s*$/;

/**
 * Reads the type of an event from the event's data; undefined if the event has no type. OpenAI writes the type first. Servers that sort
 * fields by name, such as vLLM, write it last. Finds the type in both places without parsing the event.
 */
export function readEventType(data: string): string | undefined {
  const found = leadingType.exec(data) ?? trailingType.exec(data.slice(-200));
  if (found) return found[1];
  const event = parseUpstreamJson(data);
  return isJsonObject(event) && typeof event['type'] === 'string' ? event['type'] : undefined;
}

export function endsStream(type: string | undefined): boolean {
  return type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
}
