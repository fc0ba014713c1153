import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseJsonBody } from '../json-request.ts';

const maxIdLength = 512;

/**
 * Reads one line of a batch's input: an object with a `custom_id`, and an object with the request.
 * @param field name of the field with the request
 * @throws RouterError `invalid_json`, `invalid_request`, `missing_parameter`
 */
export function readLineObject(
  line: Buffer,
  field: string,
): { object: JsonObject; customId: string; request: JsonObject } {
  const object = parseLine(line);
  if (!isJsonObject(object)) throw new RouterError('invalid_request', 'This request is not a JSON object.');
  const customId = object['custom_id'];
  if (customId === undefined) throw new RouterError('missing_parameter', 'Missing custom_id.', { param: 'custom_id' });
  if (typeof customId !== 'string' || customId === '' || customId.length > maxIdLength) {
    const message = `Invalid custom_id: it must be a string of 1 to ${maxIdLength} characters.`;
    throw new RouterError('invalid_request', message, { param: 'custom_id' });
  }
  const request = object[field];
  if (isJsonObject(request)) return { object, customId, request };
  throw new RouterError('missing_parameter', `Missing or invalid ${field}: it must be an object.`, { param: field });
}

function parseLine(line: Buffer): unknown {
  try {
    return parseJsonBody(line);
  } catch {
    throw new RouterError('invalid_json', 'This request is not valid JSON: it must be one JSON object.');
  }
}

/** Replaces the line breaks of a JSON text with spaces. Valid JSON has line breaks only between its tokens. */
export function toOneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]+/g, ' ') : json;
}

/**
 * Reads the id of a batch from a query; undefined if it is absent.
 * @throws RouterError `invalid_request`
 */
export function readCursor(query: Readonly<Record<string, unknown>>, param: string): string | undefined {
  const value = query[param];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new RouterError('invalid_request', `${param} must be the id of a batch.`, { param });
}
