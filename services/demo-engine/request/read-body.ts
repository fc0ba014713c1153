import type { IncomingMessage } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { z } from 'zod';

const maxBytes = 64 * 1024 * 1024;

/**
 * Reads a request's body as a JSON object of at most 64 MiB.
 * @throws RouterError `body_too_large`, `invalid_json`, `invalid_request`
 */
export async function readJsonBody(request: IncomingMessage): Promise<JsonObject> {
  const value = parseJson(await readBytes(request));
  if (!isJsonObject(value)) throw new RouterError('invalid_request', 'The body has to be a JSON object.');
  return value;
}

export interface DemoForm {
  fields: JsonObject;
  files: DemoFile[];
}

export interface DemoFile {
  field: string;
  name: string;
  content: Buffer;
}

/**
 * Reads a request's body as a form of at most 64 MiB.
 * @throws RouterError `body_too_large`, `invalid_request`
 */
export async function readFormBody(request: IncomingMessage): Promise<DemoForm> {
  const bytes = await readBytes(request);
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(new Uint8Array(bytes), { headers }).formData().catch((cause: unknown) => {
    throw new RouterError('invalid_request', 'The body has to be a form.', { cause });
  });
  const fields: JsonObject = {};
  const files: DemoFile[] = [];
  for (const [field, value] of form) {
    if (typeof value === 'string') fields[field] = value;
    else files.push({ field, name: value.name, content: Buffer.from(await value.arrayBuffer()) });
  }
  return { fields, files };
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // The connection stays open if the loop ends early, so that the client receives the error instead of a reset.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new RouterError('body_too_large', 'The body is larger than 64 MiB.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new RouterError('invalid_json', 'The body is not valid JSON.', { cause });
  }
}

/**
 * Checks a body against a schema.
 * @throws RouterError `invalid_request` or `missing_parameter`, with the path of the first invalid field, such as `messages[0].content`
 */
export function parseBody<T extends z.ZodType>(schema: T, body: JsonObject): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const param = path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  const isMissing = path.length === 1 && !Object.hasOwn(body, String(path[0]));
  throw new RouterError(
    isMissing ? 'missing_parameter' : 'invalid_request',
    isMissing ? `Missing required parameter: '${param}'.` : `Invalid value for '${param}': ${issue?.message}.`,
    { param: param === '' ? undefined : param },
  );
}
