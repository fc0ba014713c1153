import type { Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { FormFile } from '#shared/formats/form-file.ts';
import type { HeldBodies } from '../http/held-bodies.ts';
import { memoryOfPiece } from '../http/read-body.ts';
import { contextOf } from '../http/request-context.ts';
import { receiveForm, type Form } from './receive-form.ts';

export interface ReceiveFormParts {
  heldBodies: HeldBodies;
  /** Whether the time to drain is over and the process is about to exit. */
  isEnding: () => boolean;
  /** Milliseconds without a byte after which the form is refused. */
  bodyTimeoutMs: number;
  /** `maxBytes`: largest size of all files of a form together. */
  inputFiles: { maxBytes: number };
}

/** A file in base64, split into pieces. */
type Base64File = Pick<FormFile, 'bytes' | 'start'> & { data: readonly Buffer[] };

/** Largest number of files of a form: as many pictures as OpenAI accepts, and a mask. */
const maxFiles = 17;

/** Number of characters of a file's base64 in the field `start`. */
const startLength = 88;

/**
 * Receives a form as a JSON text, see `formFileSchema`. Files are encoded in base64 as they arrive, and are in memory twice only while
 * their pieces are joined (docs/decisions/0029-forms-in-memory.md). Call it after `requireKey` only.
 * @returns undefined if the client has disconnected
 * @throws RouterError `overloaded`, `shutting_down`, `body_too_large`; the errors of `receiveForm` and `IdempotentRequest.claim`
 */
export async function receiveFormBody(
  request: Request,
  response: Response,
  { heldBodies, isEnding, bodyTimeoutMs: timeoutMs, inputFiles: { maxBytes } }: ReceiveFormParts,
): Promise<Buffer | undefined> {
  // The client may have disconnected while its key was checked.
  if (response.destroyed) return undefined;
  const context = contextOf(response);
  const reservation = context.reserveBody(heldBodies);
  let remainingBytes = maxBytes;
  const onBytes = (plain: number, coded: number): void => {
    remainingBytes -= plain;
    if (remainingBytes < 0) throw new RouterError('body_too_large', `The form is larger than ${maxBytes} bytes.`);
    reservation.grow(coded);
  };
  const form = await receiveForm(request, {
    timeoutMs,
    reservation,
    maxFiles,
    isKept: () => true,
    keep: (content) => encodeFile(content, onBytes),
  });
  if (response.destroyed) return undefined;
  if (isEnding()) throw new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 });
  const body = toJson(form, onBytes);
  await context.keyed?.claim(body);
  return body;
}

async function encodeFile(
  content: AsyncIterable<Uint8Array>,
  onBytes: (plain: number, coded: number) => void,
): Promise<Base64File> {
  const data: Buffer[] = [];
  let bytes = 0;
  let rest = Buffer.alloc(0);
  const add = (plain: Buffer): void => {
    const coded = Buffer.from(plain.toString('base64'), 'latin1');
    onBytes(plain.length, data.length === 0 ? coded.length : memoryOfPiece(coded.length));
    data.push(coded);
  };
  for await (const piece of content) {
    bytes += piece.length;
    // Base64 encodes three bytes as four characters.
    const plain = Buffer.concat([rest, piece]);
    const whole = plain.length - (plain.length % 3);
    if (whole > 0) add(plain.subarray(0, whole));
    rest = plain.subarray(whole);
  }
  if (rest.length > 0) add(rest);
  let start = '';
  for (let at = 0; at < data.length && start.length < startLength; at += 1)
    start += data[at]?.toString('latin1', 0, startLength - start.length) ?? '';
  return { bytes, start, data };
}

/** Returns a form as JSON. Fields whose names end with `[]` become lists. Of other fields with the same name, the last one counts. */
function toJson({ entries, files }: Form<Base64File>, onBytes: (plain: number, coded: number) => void): Buffer {
  const jsonText = (value: unknown): string => {
    const text = JSON.stringify(value);
    // The text may be longer than it was in the form, because one character may have become six.
    const bytes = Buffer.byteLength(text);
    onBytes(bytes, bytes);
    return text;
  };
  const fields = new Map<string, Buffer[][]>();
  const add = (name: string, value: Buffer[]): void => {
    const known = name.endsWith('[]') ? (fields.get(name) ?? []) : [];
    fields.set(name, [...known, value]);
  };
  for (const [name, value] of entries) add(name, [Buffer.from(jsonText(value))]);
  for (const { field, name, mimeType: type, kept } of files) {
    const { bytes, start, data } = kept;
    const head = jsonText({ name, type, bytes, start }).slice(0, -1);
    add(field, [Buffer.from(`${head},"data":"`), ...data, Buffer.from('"}')]);
  }
  const pieces: Buffer[] = [];
  for (const [name, values] of fields) {
    pieces.push(Buffer.from(`${pieces.length === 0 ? '{' : ','}${jsonText(name)}:`));
    pieces.push(...(name.endsWith('[]') ? listJson(values) : values.flat()));
  }
  return Buffer.concat([...pieces, Buffer.from(pieces.length === 0 ? '{}' : '}')]);
}

function listJson(values: readonly Buffer[][]): Buffer[] {
  const comma = Buffer.from(',');
  const items = values.flatMap((value, at) => (at === 0 ? value : [comma, ...value]));
  return [Buffer.from('['), ...items, Buffer.from(']')];
}
