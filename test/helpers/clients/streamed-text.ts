import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { SseReader } from '#shared/upstream/sse-reader.ts';

/** The formats whose streams of text can continue. */
export const textFormats = ['chat', 'messages', 'responses', 'completions'] as const;
export type TextFormat = (typeof textFormats)[number];

export interface StreamedText {
  status: number;
  headers: Headers;
  text: string;
  /** The text of the final object, in a format that has one. */
  finalText: string | undefined;
  /** Every id of the answer that occurred. */
  ids: Set<string>;
  finish: Json | undefined;
  usage: { input: number; output: number } | undefined;
  events: JsonObject[];
  /** Comments, without keep-alives. */
  comments: string[];
  error: string | undefined;
  /** When the first text of another worker arrived, a time of `performance.now()`. */
  movedAt: number | undefined;
}

export interface AskOptions {
  url: string;
  key: string;
  format: TextFormat;
  prompt: string;
  model?: string;
  maxTokens?: number;
  fields?: object;
  headers?: Record<string, string>;
  /** Called with the text so far, after each piece, and its worker. */
  onText?: (text: string, worker: string) => void;
  /** Called with the first bytes, and their worker. */
  onStart?: (worker: string) => void;
  signal?: AbortSignal;
}

const paths: Record<TextFormat, string> = {
  chat: '/api/openai/v1/chat/completions',
  completions: '/api/openai/v1/completions',
  responses: '/api/openai/v1/responses',
  messages: '/api/anthropic/v1/messages',
};

function bodyOf({ format, prompt, model = 'demo', maxTokens = 4000, fields }: AskOptions): object {
  const messages = [{ role: 'user', content: prompt }];
  const asked = {
    chat: { messages, max_tokens: maxTokens },
    messages: { messages, max_tokens: maxTokens },
    responses: { input: prompt, max_output_tokens: maxTokens },
    completions: { prompt, max_tokens: maxTokens },
  };
  return { model, stream: true, temperature: 0, ...asked[format], ...fields };
}

/** Requests a stream and reads it to its end. */
export async function askText(options: AskOptions): Promise<StreamedText> {
  const { url, key, format, headers, onText, onStart, signal } = options;
  const response = await fetch(`${url}${paths[format]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(bodyOf(options)),
    signal: signal ?? null,
  });
  const read: StreamedText = {
    status: response.status,
    headers: response.headers,
    text: '',
    finalText: undefined,
    ids: new Set(),
    finish: undefined,
    usage: undefined,
    events: [],
    comments: [],
    error: undefined,
    movedAt: undefined,
  };
  if (!response.ok || !response.body) return { ...read, error: await response.text() };
  const reader = new SseReader();
  /** The beginning of an incomplete line. */
  let line = '';
  /** Whether the mark of the end arrived, in a format that has one. */
  let isOver = format === 'messages' || format === 'responses';
  for await (const bytes of response.body) {
    if (read.events.length === 0) onStart?.(response.headers.get('x-rtr-worker') ?? '');
    const raw = Buffer.from(bytes).toString('latin1');
    const lines = `${line}${raw}`.split('\n');
    line = lines.pop() ?? '';
    read.comments.push(...lines.filter((each) => each.startsWith(': ') && each !== ': keep-alive'));
    const length = read.text.length;
    for (const data of reader.push(bytes)) {
      isOver ||= data === '[DONE]';
      // The mark is not JSON.
      if (data === '[DONE]') continue;
      const event = JSON.parse(data) as JsonObject;
      read.events.push(event);
      add(read, event);
    }
    if (read.text.length === length) continue;
    if (read.comments.length > 0) read.movedAt ??= performance.now();
    onText?.(read.text, response.headers.get('x-rtr-worker') ?? '');
  }
  if (!isOver) read.error ??= 'the stream ends without [DONE]';
  return read;
}

/** Adds an event of any of the formats. */
function add(read: StreamedText, event: JsonObject): void {
  const { id, message, response, choices, delta, error, type, usage } = event;
  if (isJsonObject(error)) read.error = JSON.stringify(error);
  if (typeof id === 'string') read.ids.add(id);
  for (const object of [message, response]) {
    if (isJsonObject(object) && typeof object['id'] === 'string') read.ids.add(object['id']);
  }
  if (type === 'response.output_text.delta' && typeof delta === 'string') read.text += delta;
  if (type === 'content_block_delta' && isJsonObject(delta)) read.text += textIn(delta['text']);
  if (type === 'message_delta' && isJsonObject(delta)) read.finish = delta['stop_reason'];
  if (type === 'response.completed' || type === 'response.incomplete') readResponse(read, response);
  if (type === 'response.failed') read.error = JSON.stringify(response);
  const [choice] = Array.isArray(choices) ? choices : [];
  if (isJsonObject(choice)) {
    read.text += textIn(choice['text']);
    if (isJsonObject(choice['delta'])) read.text += textIn(choice['delta']['content']);
    read.finish = choice['finish_reason'] ?? read.finish;
  }
  if (isJsonObject(usage)) readUsage(read, usage);
}

function readResponse(read: StreamedText, response: Json | undefined): void {
  if (!isJsonObject(response)) return;
  read.finish = response['status'];
  const output = Array.isArray(response['output']) ? response['output'] : [];
  read.finalText = output
    .flatMap((item) => (isJsonObject(item) && Array.isArray(item['content']) ? item['content'] : []))
    .map((part) => (isJsonObject(part) ? textIn(part['text']) : ''))
    .join('');
  if (isJsonObject(response['usage'])) readUsage(read, response['usage']);
}

function readUsage(read: StreamedText, usage: JsonObject): void {
  // The messages format counts cached input apart. The state of an engine's cache is not tested here.
  const cached = Number(usage['cache_read_input_tokens'] ?? 0) + Number(usage['cache_creation_input_tokens'] ?? 0);
  const input = usage['prompt_tokens'] ?? Number(usage['input_tokens']) + cached;
  const output = usage['completion_tokens'] ?? usage['output_tokens'];
  read.usage = { input: Number(input), output: Number(output) };
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
