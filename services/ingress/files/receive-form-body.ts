import type { Request, Response } from 'express';
import { createShuttingDownError, RouterError } from '#shared/core/errors.ts';
import type { FormFile } from '#shared/formats/json-request.ts';
import { computePieceMemory } from '../http/read-body.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import { receiveForm, type Form } from './receive-form.ts';

/** A file in base64, split into pieces. */
type Base64File = Pick<FormFile, 'bytes' | 'start'> & { data: readonly Buffer[] };

/** Largest number of files of a form: 16 pictures, which is the limit of OpenAI, and a mask. */
const maxFiles = 17;

/** Number of characters of a file's base64 in the field `start`. */
const startLength = 88;

/**
 * Receives a form as a JSON text, see `formFileSchema`. Files are encoded in base64 as they arrive, and are in memory twice only while
 * their pieces are joined (docs/decisions/0029-forms-in-memory.md). Call it only after `requireKey`.
 * @returns undefined if the client has disconnected
 * @throws RouterError `overloaded`, `shutting_down`, `body_too_large`; the errors of `receiveForm` and `IdempotentRequest.claim`
 */
export async function receiveFormBody(
  request: Request,
  response: Response,
  {
    heldBodies,
    isEnding,
    bodyTimeoutMs: timeoutMs,
    inputFiles: { maxBytes },
  }: Pick<RequestParts, 'heldBodies' | 'isEnding' | 'bodyTimeoutMs'> & {
    /** `maxBytes`: largest size of all files of a form together. */
    inputFiles: { maxBytes: number };
  },
): Promise<Buffer | undefined> {
  // The client may have disconnected while its key was checked.
  if (response.destroyed) return undefined;
  const context = getRequestContext(response);
  const reservation = context.reserveBody(heldBodies);
  let remainingBytes = maxBytes;
  const countBytes = (raw: number, encoded: number): void => {
    remainingBytes -= raw;
    if (remainingBytes < 0) throw new RouterError('body_too_large', `The form is larger than ${maxBytes} bytes.`);
    reservation.grow(encoded);
  };
  const form = await receiveForm(request, {
    timeoutMs,
    reservation,
    maxFiles,
    isKept: () => true,
    keep: (content) => encodeFile(content, countBytes),
  });
  if (response.destroyed) return undefined;
  if (isEnding()) throw createShuttingDownError();
  const body = toJson(form, countBytes);
  await context.keyed?.claim(body);
  return body;
}

async function encodeFile(
  content: AsyncIterable<Uint8Array>,
  countBytes: (raw: number, encoded: number) => void,
): Promise<Base64File> {
  const data: Buffer[] = [];
  let bytes = 0;
  let rest = Buffer.alloc(0);
  const add = (raw: Buffer): void => {
    const encoded = Buffer.from(raw.toString('base64'), 'latin1');
    countBytes(raw.length, data.length === 0 ? encoded.length : computePieceMemory(encoded.length));
    data.push(encoded);
  };
  for await (const piece of content) {
    bytes += piece.length;
    // Base64 encodes three bytes as four characters.
    const raw = Buffer.concat([rest, piece]);
    const whole = raw.length - (raw.length % 3);
    if (whole > 0) add(raw.subarray(0, whole));
    rest = raw.subarray(whole);
  }
  if (rest.length > 0) add(rest);
  let start = '';
  for (let at = 0; at < data.length && start.length < startLength; at += 1)
    start += data[at]?.toString('latin1', 0, startLength - start.length) ?? '';
  return { bytes, start, data };
}

/**
 * Returns a form as JSON. A field name that ends with `[]` makes a list of its values. Of several values of any other field, the last one
 * counts.
 */
function toJson({ entries, files }: Form<Base64File>, countBytes: (raw: number, encoded: number) => void): Buffer {
  const encodeJson = (value: unknown): string => {
    const text = JSON.stringify(value);
    // The text may be longer than it was in the form, because one character may have become six.
    const bytes = Buffer.byteLength(text);
    countBytes(bytes, bytes);
    return text;
  };
  const fields = new Map<string, Buffer[][]>();
  const add = (name: string, value: Buffer[]): void => {
    const earlierValues = name.endsWith('[]') ? (fields.get(name) ?? []) : [];
    fields.set(name, [...earlierValues, value]);
  };
  for (const [name, value] of entries) add(name, [Buffer.from(encodeJson(value))]);
  for (const { field, name, mimeType: type, kept } of files) {
    const { bytes, start, data } = kept;
    const head = encodeJson({ name, type, bytes, start }).slice(0, -1);
    add(field, [Buffer.from(`${head},"data":"`), ...data, Buffer.from('"}')]);
  }
  const pieces: Buffer[] = [];
  for (const [name, values] of fields) {
    pieces.push(Buffer.from(`${pieces.length === 0 ? '{' : ','}${encodeJson(name)}:`));
    pieces.push(...(name.endsWith('[]') ? joinAsList(values) : values.flat()));
  }
  return Buffer.concat([...pieces, Buffer.from(pieces.length === 0 ? '{}' : '}')]);
}

function joinAsList(values: readonly Buffer[][]): Buffer[] {
  const comma = Buffer.from(',');
  const items = values.flatMap((value, at) => (at === 0 ? value : [comma, ...value]));
  return [Buffer.from('['), ...items, Buffer.from(']')];
}
