import type { IncomingMessage } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

const maxBytes = 64 * 1024 * 1024;

/**
 * Reads a request's body as a JSON object of at most 64 MiB.
 * @throws RouterError `body_too_large`, `invalid_json`, `invalid_request`
 */
export async function readJsonBody(request: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Left open when the loop ends early, or the client would meet a reset connection instead of the error.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new RouterError('body_too_large', 'The body is larger than 64 MiB.');
    parts.push(part);
  }
  const value = parseJson(Buffer.concat(parts));
  if (!isJsonObject(value)) throw new RouterError('invalid_request', 'The body has to be a JSON object.');
  return value;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new RouterError('invalid_json', 'The body is not valid JSON.', { cause });
  }
}
