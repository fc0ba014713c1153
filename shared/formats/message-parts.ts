import {
  isJsonObject,
  nestsTooDeeply,
  parseIfJson,
  toTextOrEmpty,
  type Json,
  type JsonObject,
} from '#shared/core/json.ts';

/**
 * A message part of the semantic conventions for generative AI (OpenTelemetry, "gen-ai-input-messages.json"): `text`, `reasoning`,
 * `tool_call`, `tool_call_response`, or a reference to an image or a file, without its bytes.
 */
export type MessagePart = JsonObject & { type: string };

export interface TraceMessage {
  role: string;
  parts: MessagePart[];
  /**
   * Set only for answers: `stop`, `length`, `content_filter`, `tool_call`, `error`, or the format's own value. An answer that was cut off
   * has `error`.
   */
  finish_reason?: string;
}

export interface TraceRequest {
  /** The instructions that the format keeps outside of the conversation. */
  instructions: MessagePart[];
  messages: TraceMessage[];
}

/** Converts a format's bodies to messages of the conventions. Leaves unknown content out and never throws. */
export interface MessageParts {
  request: (body: JsonObject) => TraceRequest;
  /** Returns the messages of a whole answer; an empty list for a body without them, such as an error. */
  answer: (body: JsonObject) => TraceMessage[];
  /** Joins the events of a stream into the whole answer. The stream may be cut off. */
  joinEvents: (events: readonly JsonObject[]) => JsonObject;
}

export type Modality = 'image' | 'audio' | 'video' | 'document';

export function toTextParts(text: Json | undefined, type: 'text' | 'reasoning' = 'text'): MessagePart[] {
  return typeof text === 'string' && text !== '' ? [{ type, content: text }] : [];
}

/** @param input the arguments as an object or JSON text, or another text */
export function createToolCallPart(id: Json | undefined, name: Json | undefined, input: Json | undefined): MessagePart {
  const parsed = typeof input === 'string' ? readJson(input) : input;
  const parsedInput = isJsonObject(parsed) ? parsed : (input ?? null);
  return { type: 'tool_call', ...optionalText('id', id), name: toTextOrEmpty(name), arguments: parsedInput };
}

/** @param response a text, or a list of parts */
export function createToolResponsePart(id: Json | undefined, response: Json): MessagePart {
  return { type: 'tool_call_response', ...optionalText('id', id), response };
}

export function createFilePart(modality: Modality, id: string): MessagePart {
  return { type: 'file', modality, file_id: id };
}

/** Creates the part for a file with a URL. For a `data:` URL, the part contains only the type and the size. */
export function createUrlPart(modality: Modality, url: string): MessagePart {
  if (!/^data:/i.test(url)) return { type: 'uri', modality, uri: url };
  const start = url.indexOf(',') + 1;
  const [mimeType = ''] = url.slice('data:'.length, start === 0 ? undefined : start - 1).split(';', 1);
  return createBytesPart(modality, mimeType, url.length - start);
}

/**
 * Creates a part that stands for bytes of a request, without the bytes.
 * @param length number of characters of the base64, or of the text
 */
export function createBytesPart(modality: Modality, mimeType: Json | undefined, length: number): MessagePart {
  return { type: 'blob', modality, ...optionalText('mime_type', mimeType), content: '', 'rtr.length': length };
}

export function filterObjects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Converts content that is a text or a list of content parts. */
export function toContentParts(content: Json | undefined, toParts: (part: JsonObject) => MessagePart[]): MessagePart[] {
  return typeof content === 'string' ? toTextParts(content) : filterObjects(content).flatMap(toParts);
}

/** Converts the content of a tool's result. A text stays a text; a list becomes a list of parts. */
export function toToolResponse(content: Json | undefined, toParts: (part: JsonObject) => MessagePart[]): Json {
  return typeof content === 'string' ? content : toContentParts(content, toParts);
}

/** Removes messages without parts. */
export function removeEmptyMessages(messages: readonly TraceMessage[]): TraceMessage[] {
  return messages.filter(({ parts }) => parts.length > 0);
}

/** Parses a JSON text. Returns undefined for a text that is cut off, invalid, or nested too deeply to serialize it again. */
export function readJson(text: string): Json | undefined {
  const value = parseIfJson(text);
  return nestsTooDeeply(value) ? undefined : value;
}

/** Returns the data of a stream's events. Skips data that is no object, the end mark, and an event that was cut off. */
export function readEvents(stream: string): JsonObject[] {
  return stream.split('\n').flatMap((line) => {
    const data = line.startsWith('data:') ? readJson(line.slice('data:'.length)) : undefined;
    return isJsonObject(data) ? [data] : [];
  });
}

function optionalText(field: string, value: Json | undefined): JsonObject {
  return typeof value === 'string' ? { [field]: value } : {};
}

/** Converts a choice's finish reason to the semantic conventions. Returns `error` for an answer that has not finished. */
export function convertFinishReason(reason: Json | undefined): string {
  if (reason === 'tool_calls' || reason === 'function_call') return 'tool_call';
  return typeof reason === 'string' ? reason : 'error';
}
