import { isJsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';

const first = /^\s*\{\s*"type"\s*:\s*"([\w.-]+)"/;
const last = /[{,]\s*"type"\s*:\s*"([\w.-]+)"\s*\}\s*$/;

/**
 * Reads the type of an event from its data; undefined if it has none. OpenAI writes the type first. Servers that sort the fields by name,
 * such as vLLM, write it last. In both places it is found without parsing the event.
 */
export function eventType(data: string): string | undefined {
  const found = first.exec(data) ?? last.exec(data.slice(-200));
  if (found) return found[1];
  const event = parseUpstreamJson(data);
  return isJsonObject(event) && typeof event['type'] === 'string' ? event['type'] : undefined;
}

export function endsStream(type: string | undefined): boolean {
  return type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
}
