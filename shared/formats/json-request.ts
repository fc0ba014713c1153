import { isUtf8 } from 'node:buffer';
import { RouterError } from '#shared/core/errors.ts';
import { hasMoreValues, maxRequestValues } from '#shared/core/has-more-values.ts';
import { parseJsonText, type JsonText } from '#shared/core/json-text.ts';
import { isJsonObject, nestsTooDeeply, type Json } from '#shared/core/json.ts';
import type { ClientRequest, RequestParameters } from './client-format.ts';
import { checkSpelling } from './validation/check-spelling.ts';
import { findFileInputs, type FilePartFormat } from './file-inputs.ts';
import type { HostedRequest } from './hosted/hosted-request.ts';
import { z } from 'zod';

/**
 * Parses a body as JSON. Refuses values that are nested too deeply to serialize them again.
 * @throws RouterError `invalid_json`, `invalid_request` for a body nested too deeply, `body_too_large` for too many values
 */
export function parseJsonBody(body: Buffer): unknown {
  const { value, skim } = parseBodyText(body);
  if (skim(() => nestsTooDeeply(value as Json))) throw createNestingError();
  return value;
}

function parseBodyText(body: Buffer): JsonText {
  if (body.length === 0) throw new RouterError('invalid_json', 'The request has no body; a JSON object is expected.');
  if (hasMoreValues(body)) throw createSizeError();
  if (!isUtf8(body)) throw new RouterError('invalid_json', 'The request body is not valid UTF-8.');
  try {
    return parseJsonText(body);
  } catch {
    // The error omits the parser's message, because that message may quote the body.
    throw new RouterError('invalid_json', 'We could not parse the JSON body of your request.');
  }
}

/**
 * Reads a body that is a JSON object.
 * @param check checks the body and returns the parameters that the router reads
 * @param fileParts how the body names files; undefined for a format without files
 * @param findHosted finds the hosted tools of a checked body
 * @throws RouterError `invalid_json`, `invalid_request` for a body nested too deeply for the stack, `body_too_large` for too many values,
 * or an error of `check`
 */
export function readJsonRequest(
  body: Buffer,
  check: (parsed: unknown, skim: JsonText['skim'], bytes: number) => RequestParameters,
  fileParts?: FilePartFormat,
  findHosted: (parsed: unknown) => HostedRequest | undefined = () => undefined,
): ClientRequest {
  const text = parseBodyText(body);
  const { value: parsed, skim } = text;
  checkSpelling(parsed);
  try {
    const parameters = check(parsed, skim, body.length);
    const files = fileParts && findFileInputs(body, text, fileParts);
    const hosted = findHosted(parsed);
    const withDefaults: ClientRequest['withDefaults'] = (fields) => addDefaults(body, parsed, fields);
    return { parameters, files, hosted, withDefaults };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw createNestingError(error);
  }
}

function createSizeError(): RouterError {
  const { values, groups } = maxRequestValues;
  return new RouterError(
    'body_too_large',
    `The request body has more than ${values} values, or more than ${groups} lists and objects.`,
  );
}

function createNestingError(cause?: unknown): RouterError {
  return new RouterError('invalid_request', 'The request is nested too deeply.', { cause });
}

/**
 * Adds the fields that a body lacks. The added fields precede the client's fields, so that the body need not be serialized again.
 * @param body the text of a JSON object
 * @param parsed the same object, parsed
 */
export function addDefaults(body: Buffer, parsed: unknown, fields: Readonly<Record<string, Json>>): Buffer {
  const missing = Object.entries(fields).filter(([field]) => isJsonObject(parsed) && parsed[field] === undefined);
  if (missing.length === 0) return body;
  const start = body.indexOf('{') + 1;
  const addedText = JSON.stringify(Object.fromEntries(missing)).slice(1, -1);
  return Buffer.concat([Buffer.from(`{${addedText},`), body.subarray(start)]);
}

/**
 * A file of a form. The router reads a form as a JSON object of its fields. A file becomes this object, and any other field becomes a text.
 * A field whose name ends with `[]` becomes a list of texts.
 */
export const formFileSchema = z.object({
  name: z.string(),
  type: z.string(),
  bytes: z.int().min(1),
  /** The first 66 bytes at most, in base64. */
  start: z.string(),
  /** The whole content in base64. */
  data: z.string(),
});

export type FormFile = z.infer<typeof formFileSchema>;
