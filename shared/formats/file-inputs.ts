import { randomUUID } from 'node:crypto';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonText } from '#shared/core/json-text.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { FieldPath } from './validation/find-first-problem.ts';

export type InputKind = 'image' | 'pdf' | 'text';

export interface InputFile {
  name: string;
  mimeType: string;
  kind: InputKind;
  /** The content as a JSON string contains it: base64, or text with escapes. */
  content: Uint8Array;
}

/** A file for `FilePartFormat.insertFile`. `data` is a placeholder for the content of the file. */
export type PlaceholderFile = Omit<InputFile, 'content'> & { data: string };

export interface FilePartFormat {
  /** Names of the fields that lead to content parts, at any depth. */
  fields: readonly string[];
  /** Returns the id of the file that a content part names; undefined for any other part. */
  readFileId: (part: JsonObject) => string | undefined;
  /**
   * Returns the content part with the file in place of its id.
   * @throws RouterError `invalid_request` for a kind of file that the part cannot contain
   */
  insertFile: (part: JsonObject, file: PlaceholderFile, param: string) => JsonObject;
  writeParam: (path: FieldPath) => string;
  /** Returns the error for an id that no file of the key's owner has. */
  notFound: (id: string, param: string) => RouterError;
}

export interface FileInput {
  id: string;
  param: string;
}

export interface FileInputs {
  inputs: readonly FileInput[];
  /**
   * Returns the text of the request with files in place of their ids. Ids without a file stay.
   * @param files the files by id
   * @throws RouterError `invalid_request` for a kind of file that the content part cannot contain
   */
  inline: (files: ReadonlyMap<string, InputFile>) => Buffer;
  notFound: FilePartFormat['notFound'];
}

/** Text that every request with a file id contains. */
const fileIdSign = Buffer.from('"file_id"');

/** Finds the files that a request names. Returns undefined if the request names no file, like most requests. */
export function findFileInputs(
  body: Buffer,
  { value, write }: Pick<JsonText, 'value' | 'write'>,
  parts: FilePartFormat,
): FileInputs | undefined {
  if (!isJsonObject(value) || !body.includes(fileIdSign)) return undefined;
  const inputs: FileInput[] = [];
  replaceParts(value, [], parts, (part, id, param) => {
    inputs.push({ id, param });
    return part;
  });
  if (inputs.length === 0) return undefined;
  return { inputs, inline: (files) => inline(value, files, { parts, write }), notFound: parts.notFound };
}

function inline(
  request: JsonObject,
  files: ReadonlyMap<string, InputFile>,
  { parts, write }: { parts: FilePartFormat; write: JsonText['write'] },
): Buffer {
  // A mark that is chosen after the text exists cannot occur in the text.
  const mark = randomUUID();
  const contents: Uint8Array[] = [];
  const markedRequest = replaceParts(request, [], parts, (part, id, param) => {
    const file = files.get(id);
    if (!file) return part;
    const { content, ...description } = file;
    const filledPart = parts.insertFile(part, { ...description, data: `${mark}:${contents.length};` }, param);
    contents.push(content);
    return filledPart;
  });
  return fillInContents(Buffer.concat(write(isJsonObject(markedRequest) ? markedRequest : request)), mark, contents);
}

function fillInContents(text: Buffer, mark: string, contents: readonly Uint8Array[]): Buffer {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, from)) {
    const end = text.indexOf(';', at);
    const content = contents[Number(text.toString('latin1', at + mark.length + 1, end))];
    pieces.push(text.subarray(from, at), content ?? new Uint8Array());
    from = end + 1;
  }
  return Buffer.concat([...pieces, text.subarray(from)]);
}

type ReplacePart = (part: JsonObject, id: string, param: string) => JsonObject;

/** Returns the value with its content parts replaced. Copies only values that contain a replaced part. */
function replaceParts(value: Json, path: FieldPath, parts: FilePartFormat, replace: ReplacePart): Json {
  if (Array.isArray(value)) {
    const items = value.map((item, at) => replaceParts(item, [...path, at], parts, replace));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const id = parts.readFileId(value);
  if (id !== undefined) return replace(value, id, parts.writeParam(path));
  let copy: JsonObject | undefined;
  for (const field of parts.fields) {
    const inner = value[field];
    if (typeof inner !== 'object' || inner === null) continue;
    const replaced = replaceParts(inner, [...path, field], parts, replace);
    if (replaced !== inner) copy = { ...(copy ?? value), [field]: replaced };
  }
  return copy ?? value;
}
