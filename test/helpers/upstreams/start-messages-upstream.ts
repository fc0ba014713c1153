import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '#shared/core/json.ts';
import { writeNamedEvent } from '#shared/formats/sse/encode.ts';
import { serveHttp } from '../servers/serve-http.ts';

export interface MessagesCall {
  headers: IncomingHttpHeaders;
  /** The body's bytes, as text. */
  raw: string;
  body: JsonObject & { messages: (JsonObject & { role: string; content: string | JsonObject[] })[] };
}

/** A test's answer for the upstream: the blocks of a message, optionally with headers, usage and stop reason, or an error. */
export type MessagesAnswer =
  | JsonObject[]
  | { content: JsonObject[]; headers?: Record<string, string>; usage?: JsonObject; stopReason?: string }
  | { status: number; headers?: Record<string, string>; error: JsonObject & { type: string } };

/** An upstream of Anthropic's messages format that signs its thinking, and answers as a test decides. */
export interface MessagesUpstream {
  url: string;
  calls: MessagesCall[];
  stop: () => Promise<void>;
}

/**
 * Starts an upstream that lists these models.
 * @param answer called with each request for a message, and its number from 0
 */
export async function startMessagesUpstream(
  models: readonly string[],
  answer: (call: MessagesCall, at: number) => MessagesAnswer,
): Promise<MessagesUpstream> {
  const calls: MessagesCall[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await text(request);
    if (request.method === 'GET') {
      const data = models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }));
      sendJson(response, 200, { data, has_more: false, first_id: null, last_id: null });
      return;
    }
    const call: MessagesCall = { headers: request.headers, raw, body: JSON.parse(raw) as MessagesCall['body'] };
    calls.push(call);
    const answered = answer(call, calls.length - 1);
    if ('error' in answered) {
      const body = { type: 'error', error: answered.error, request_id: 'req_upstream' };
      sendJson(response, answered.status, body, answered.headers);
      return;
    }
    const {
      content,
      headers,
      usage = usualUsage,
      stopReason,
    } = Array.isArray(answered) ? { content: answered } : answered;
    const message = messageOf(content, usage, call.body, stopReason);
    if (call.body['stream'] === true) {
      response
        .writeHead(200, { 'content-type': 'text/event-stream', ...headers })
        .end(streamOf(message, content, usage));
    } else sendJson(response, 200, message, headers);
  };
  const { url, stop } = await serveHttp(serve);
  return { url, calls, stop };
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

const usualUsage = { input_tokens: 10, output_tokens: 1 };

function messageOf(content: JsonObject[], usage: JsonObject, { model }: JsonObject, stopReason?: string): JsonObject {
  const stop = stopReason ?? (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');
  return {
    id: 'msg_u',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage,
  };
}

function streamOf(message: JsonObject, content: JsonObject[], usage: JsonObject): string {
  return messageEvents(message, content, usage)
    .map((event) => writeNamedEvent(event.type, JSON.stringify(event)))
    .join('');
}

/** How texts are cut into deltas. Default: not at all. */
interface Cut {
  text: (text: string) => readonly string[];
  json: (json: string) => readonly string[];
}

const uncut: Cut = { text: (text) => [text], json: (json) => [json] };

/**
 * Returns the events of a streamed message.
 * @param usage usage at its end
 */
export function messageEvents(
  message: JsonObject,
  content: JsonObject[],
  usage: JsonObject,
  cut = uncut,
): (JsonObject & { type: string })[] {
  const { stop_reason: reason = null, stop_sequence: sequence = null } = message;
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: beginningOf(block) },
      ...deltasOf(block, cut).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: sequence }, usage },
    { type: 'message_stop' },
  ];
}

function beginningOf(block: JsonObject): JsonObject {
  switch (block['type']) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
    default:
      return block;
  }
}

function deltasOf(block: JsonObject, cut: Cut): JsonObject[] {
  switch (block['type']) {
    case 'text':
      return cut.text(block['text'] as string).map((text) => ({ type: 'text_delta', text }));
    case 'thinking':
      return [
        { type: 'thinking_delta', thinking: block['thinking'] },
        { type: 'signature_delta', signature: block['signature'] },
      ];
    case 'tool_use':
      return cut.json(JSON.stringify(block['input'])).map((json) => ({ type: 'input_json_delta', partial_json: json }));
    default:
      return [];
  }
}
