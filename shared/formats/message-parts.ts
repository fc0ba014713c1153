import { isJsonObject, nestsTooDeeply, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * A part of a message as the semantic conventions for generative AI have it (OpenTelemetry, "gen-ai-input-messages.json"): `text`,
 * `reasoning`, `tool_call`, `tool_call_response`, or an image or a file, of which there is a reference and never its bytes.
 */
export type MessagePart = JsonObject & { type: string };

/** A message of a conversation in the shape of the conventions. */
export interface PartedMessage {
  role: string;
  parts: MessagePart[];
  /** Of an answer: `stop`, `length`, `content_filter`, `tool_call`, `error` or a word of the format. `error` if it was cut. */
  finish_reason?: string;
}

/** What a request says to a model. */
export interface PartedRequest {
  /** The instructions that stand beside the conversation in the format. */
  instructions: MessagePart[];
  messages: PartedMessage[];
}

/** How a format's bodies become messages of the conventions. What it does not know is left out. Neither throws. */
export interface MessageParts {
  request: (body: JsonObject) => PartedRequest;
  /** Messages of a whole answer; none of one that has none, such as an error. */
  answer: (body: JsonObject) => PartedMessage[];
  /** The whole answer that the events of a stream make up, which may be cut. */
  joined: (events: readonly JsonObject[]) => JsonObject;
}

export type Modality = 'image' | 'audio' | 'video' | 'document';

/** A part of text, unless there is none. */
export function textParts(text: Json | undefined, type: 'text' | 'reasoning' = 'text'): MessagePart[] {
  return typeof text === 'string' && text !== '' ? [{ type, content: text }] : [];
}

/** @param input the arguments, their JSON text, or another text */
export function toolCallPart(id: Json | undefined, name: Json | undefined, input: Json | undefined): MessagePart {
  const read = typeof input === 'string' ? readJson(input) : input;
  const given = isJsonObject(read) ? read : (input ?? null);
  return { type: 'tool_call', ...named('id', id), name: textOf(name), arguments: given };
}

/** @param response a text, or parts */
export function toolResponsePart(id: Json | undefined, response: Json): MessagePart {
  return { type: 'tool_call_response', ...named('id', id), response };
}

/** A file that has been uploaded before. */
export function filePart(modality: Modality, id: string): MessagePart {
  return { type: 'file', modality, file_id: id };
}

/** A file by its address; of a `data:` address only its type and its size. */
export function addressPart(modality: Modality, address: string): MessagePart {
  if (!/^data:/i.test(address)) return { type: 'uri', modality, uri: address };
  const start = address.indexOf(',') + 1;
  const [mimeType = ''] = address.slice('data:'.length, start === 0 ? undefined : start - 1).split(';', 1);
  return bytesPart(modality, mimeType, address.length - start);
}

/** Stands for bytes that were in a request. @param length of their base64, or of a text */
export function bytesPart(modality: Modality, mimeType: Json | undefined, length: number): MessagePart {
  return { type: 'blob', modality, ...named('mime_type', mimeType), content: '', 'rtr.length': length };
}

/** Text of a part's value, which may be missing. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The objects in a list; none of what is no list. */
export function objectsIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Content that is a text or a list of parts. */
export function contentParts(content: Json | undefined, partOf: (part: JsonObject) => MessagePart[]): MessagePart[] {
  return typeof content === 'string' ? textParts(content) : objectsIn(content).flatMap(partOf);
}

/** The same as the response of a tool: one text if it is nothing else. */
export function responseOf(content: Json | undefined, partOf: (part: JsonObject) => MessagePart[]): Json {
  return typeof content === 'string' ? content : contentParts(content, partOf);
}

/** Messages that say something. */
export function saying(messages: readonly PartedMessage[]): PartedMessage[] {
  return messages.filter(({ parts }) => parts.length > 0);
}

/** A JSON text that can be written again; undefined for one that was cut or is none. */
export function readJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return nestsTooDeeply(value) ? undefined : value;
  } catch {
    // It was cut, or is no JSON.
    return undefined;
  }
}

/** The events of a stream whose data are objects: comments, the end mark and an event that was cut are none. */
export function readEvents(stream: string): JsonObject[] {
  return stream.split('\n').flatMap((line) => {
    const data = line.startsWith('data:') ? readJson(line.slice('data:'.length)) : undefined;
    return isJsonObject(data) ? [data] : [];
  });
}

function named(field: string, value: Json | undefined): JsonObject {
  return typeof value === 'string' ? { [field]: value } : {};
}
