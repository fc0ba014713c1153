import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * Reads a line of a protocol whose every line is a JSON object.
 * @throws RouterError `upstream_failed` for anything else. The line is not told: it may be of somebody's answer.
 */
export function parseProtocolLine(line: string): JsonObject {
  const parsed = parse(line);
  if (isJsonObject(parsed)) return parsed;
  throw new RouterError('upstream_failed', 'The CLI printed something that is not of its protocol.');
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
