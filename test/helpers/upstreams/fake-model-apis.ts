import type { IncomingMessage, ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { serveHttp } from '../servers/serve-http.ts';
import { messageEvents } from './start-messages-upstream.ts';

export interface UpstreamCall {
  path: string;
  headers: IncomingMessage['headers'];
  body: JsonObject;
  /** When it arrived, on the clock of `performance.now()`. */
  at: number;
  /** Whether the caller left before the answer was complete. */
  aborted: boolean;
}

/** A server with the APIs that command-line agents use: messages, responses, chat completions, generateContent. */
export interface FakeModelApis {
  url: string;
  calls: UpstreamCall[];
  close(): Promise<void>;
}

/** Elements of an answer, for all APIs. */
interface Answer {
  thinking: string;
  pieces: string[];
  /** Inputs of the calls of the first offered tool, made after the text. */
  calls: JsonObject[];
  /** Milliseconds before each piece. */
  delayMs: number;
}

/**
 * Starts the server. It answers `You said: …` with the last text that it was sent, in pieces, and follows a line `[fake …]` in that text:
 * `status=429`, `delay=50` (milliseconds before each piece), `think`, `hang` (after the first piece), `drop` (the connection, after the
 * first piece), `cut` (the same, but as if that were the end), `pieces=100`. In all APIs also `calls=2`, which calls the first tool twice
 * (in the responses API, that of the last name in `tools`; in chat completions a forced tool, once and unasked); `waits` adds an argument
 * of Gemini CLI's to these calls. Results of tools count as text there, and output formats are kept. In the messages API limits and stop
 * sequences are kept, too. In the responses API `always` refuses not to think, in OpenAI's words.
 */
export async function startFakeModelApis(): Promise<FakeModelApis> {
  const calls: UpstreamCall[] = [];
  const { url, stop } = await serveHttp((request, response) => answer(request, response, calls));
  return { url, calls, close: stop };
}

async function answer(request: IncomingMessage, response: ServerResponse, calls: UpstreamCall[]): Promise<void> {
  const path = (request.url ?? '').split('?')[0] ?? '';
  const body = await readBody(request);
  if (request.method !== 'POST') {
    response.writeHead(404).end();
    return;
  }
  const call: UpstreamCall = { path, headers: request.headers, body, at: performance.now(), aborted: false };
  calls.push(call);
  response.on('close', () => {
    call.aborted = !response.writableEnded;
  });
  const said = lastText(body);
  const asked = /\[fake ([^\]]*)\]/.exec(said)?.[1] ?? '';
  const status = Number(/status=(\d+)/.exec(asked)?.[1] ?? 200);
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' });
    response.end(JSON.stringify(errorBody(path, status)));
    return;
  }
  const { reasoning } = body;
  if (asked.includes('always') && isJsonObject(reasoning) && reasoning['effort'] === 'none') {
    const message = "Unsupported value: 'none' is not supported with this model. Supported values are: 'low', 'high'.";
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'reasoning.effort' } }));
    return;
  }
  const count = Number(/pieces=(\d+)/.exec(asked)?.[1] ?? 0);
  const pieces = count > 0 ? Array.from({ length: count }, (_, at) => `word${at} `) : split(`You said: ${said}`);
  const plan: Answer = {
    thinking: asked.includes('think') ? 'Hm, let me think.' : '',
    pieces,
    calls: Array.from({ length: Number(/calls=(\d+)/.exec(asked)?.[1] ?? 0) }, (_, at) => ({
      n: at,
      city: `city ${at}`,
      ...(asked.includes('waits') && { wait_for_previous: true }),
    })),
    delayMs: Number(/delay=(\d+)/.exec(asked)?.[1] ?? 0),
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = eventsOf(path, plan, body, calls.length);
  let sent = 0;
  for (const { event, data, isPiece } of events) {
    if (isPiece && plan.delayMs > 0) await sleep(plan.delayMs);
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
    if (!isPiece) continue;
    sent += 1;
    if (sent === 1 && asked.includes('drop')) {
      await sleep(20);
      response.destroy();
      return;
    }
    if (sent === 1 && asked.includes('hang')) return;
    if (sent === 1 && asked.includes('cut')) break;
  }
  response.end();
}

interface Event {
  event?: string;
  data: JsonObject;
  isPiece?: boolean;
}

/** @param nth number of the call, which makes ids unique */
function eventsOf(path: string, plan: Answer, body: JsonObject, nth: number): Iterable<Event> {
  if (path.endsWith('/messages')) return messagesEvents(plan, body, nth);
  if (path.endsWith('/responses')) return responsesEvents(plan, body, nth);
  return path.endsWith('/chat/completions') ? chatEvents(plan, body, nth) : geminiEvents(plan, body);
}

function messagesEvents(answer: Answer, body: JsonObject, nth: number): Event[] {
  const { thinking, calls } = answer;
  const { pieces, stopReason, stopSequence } = withinLimits(answer, body);
  const usage = { input_tokens: 11, output_tokens: 1, cache_creation_input_tokens: 2, cache_read_input_tokens: 3 };
  const [tool] = Array.isArray(body['tools']) ? body['tools'] : [];
  const name = isJsonObject(tool) ? (tool['name'] ?? '') : '';
  const content = [
    ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: 'c2ln' }]),
    { type: 'text', text: pieces.join('') },
    ...calls.map((input, at) => ({ type: 'tool_use', id: `toolu_${nth}_${at}`, name, input })),
  ];
  const message = {
    id: 'msg_fake',
    type: 'message',
    role: 'assistant',
    model: body['model'] ?? null,
    content,
    stop_reason: calls.length > 0 ? 'tool_use' : stopReason,
    stop_sequence: stopSequence,
    usage,
  };
  const cut = { text: () => pieces, json: smallPieces };
  return messageEvents(message, content, { output_tokens: pieces.length }, cut).map((data) => {
    const { delta } = data;
    const isPiece = isJsonObject(delta) && (delta['type'] === 'text_delta' || delta['type'] === 'input_json_delta');
    return { event: data.type, data, isPiece };
  });
}

/** Cuts the answer as the limits, stop sequences and format of a messages request demand. One piece is one token. */
function withinLimits(
  { pieces }: Answer,
  { max_tokens: limit, stop_sequences: stops, output_config: output }: JsonObject,
): { pieces: string[]; stopReason: string; stopSequence: string | null } {
  if (isJsonObject(output) && output['format'] !== undefined) {
    return { pieces: ['{"said":', '"yes"}'], stopReason: 'end_turn', stopSequence: null };
  }
  const stop = (Array.isArray(stops) ? stops : []).find(
    (each) => typeof each === 'string' && pieces.join('').includes(each),
  );
  if (typeof stop === 'string') {
    return { pieces: split(pieces.join('').split(stop)[0] ?? ''), stopReason: 'stop_sequence', stopSequence: stop };
  }
  const fits = typeof limit !== 'number' || pieces.length <= limit;
  return {
    pieces: fits ? pieces : pieces.slice(0, limit),
    stopReason: fits ? 'end_turn' : 'max_tokens',
    stopSequence: null,
  };
}

function* responsesEvents(answer: Answer, body: JsonObject, nth: number): Generator<Event> {
  const { thinking, calls } = answer;
  const hasFormat = isJsonObject(body['text']) && isJsonObject(body['text']['format']);
  const pieces = hasFormat ? ['{"said":', '"yes"}'] : answer.pieces;
  let number = 0;
  const named = (type: string, rest: JsonObject, isPiece = false): Event => {
    const data = { type, sequence_number: number, ...rest };
    number += 1;
    return { event: type, data, isPiece };
  };
  const response = { id: 'resp_fake', object: 'response', status: 'in_progress', output: [] };
  yield named('response.created', { response });
  let index = 0;
  if (thinking !== '') {
    const item = { id: 'rs_fake', type: 'reasoning', summary: [] };
    const summary = { item_id: 'rs_fake', output_index: index, summary_index: 0 };
    yield named('response.output_item.added', { output_index: index, item });
    yield named('response.reasoning_summary_part.added', { ...summary, part: { type: 'summary_text', text: '' } });
    yield named('response.reasoning_summary_text.delta', { ...summary, delta: thinking });
    const done = { ...item, summary: [{ type: 'summary_text', text: thinking }] };
    yield named('response.output_item.done', { output_index: index, item: done });
    index += 1;
  }
  const item = { id: 'msg_fake', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const place = { item_id: 'msg_fake', output_index: index, content_index: 0 };
  yield named('response.output_item.added', { output_index: index, item });
  yield named('response.content_part.added', { ...place, part: { type: 'output_text', text: '', annotations: [] } });
  for (const delta of pieces) yield named('response.output_text.delta', { ...place, delta }, true);
  const done = {
    ...item,
    status: 'completed',
    content: [{ type: 'output_text', text: pieces.join(''), annotations: [] }],
  };
  yield named('response.output_item.done', { output_index: index, item: done });
  const tool = Array.isArray(body['tools']) ? body['tools'].at(-1) : undefined;
  const name = isJsonObject(tool) ? (tool['name'] ?? '') : '';
  for (const [at, input] of calls.entries()) {
    index += 1;
    const call = {
      id: `fc_${nth}_${at}`,
      type: 'function_call',
      status: 'in_progress',
      call_id: `call_${nth}_${at}`,
      name,
    };
    // A spelling that no other program would write.
    const json = JSON.stringify(input).replaceAll(':', ' : ');
    yield named('response.output_item.added', { output_index: index, item: { ...call, arguments: '' } });
    for (const delta of smallPieces(json)) {
      yield named('response.function_call_arguments.delta', { item_id: call.id, output_index: index, delta }, true);
    }
    yield named('response.output_item.done', {
      output_index: index,
      item: { ...call, status: 'completed', arguments: json },
    });
  }
  yield named('response.completed', {
    response: {
      ...response,
      status: 'completed',
      output: [done],
      usage: {
        input_tokens: 11,
        input_tokens_details: { cached_tokens: 3 },
        output_tokens: pieces.length,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 11 + pieces.length,
      },
    },
  });
}

function* chatEvents({ thinking, pieces, calls }: Answer, body: JsonObject, nth: number): Generator<Event> {
  const chunk = (delta: JsonObject, finish: string | null = null, rest: JsonObject = {}): JsonObject => ({
    id: 'chatcmpl-fake',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'fake',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...rest,
  });
  yield { data: chunk({ role: 'assistant', content: '' }) };
  if (thinking !== '') yield { data: chunk({ reasoning_content: thinking }) };
  for (const content of pieces) yield { data: chunk({ content }), isPiece: true };
  const isForced = body['tool_choice'] === 'required';
  const [tool] = Array.isArray(body['tools']) ? body['tools'] : [];
  const name = isJsonObject(tool) && isJsonObject(tool['function']) ? (tool['function']['name'] ?? '') : '';
  const inputs = isForced ? [{ said: pieces.includes('bad ') ? 1 : 'yes' }] : calls;
  for (const [index, input] of inputs.entries()) {
    const call = { index, id: `call_${nth}_${index}`, type: 'function', function: { name, arguments: '' } };
    yield { data: chunk({ tool_calls: [call] }) };
    for (const json of smallPieces(JSON.stringify(input))) {
      yield { data: chunk({ tool_calls: [{ index, function: { arguments: json } }] }), isPiece: true };
    }
  }
  const usage = { prompt_tokens: 11, completion_tokens: pieces.length, total_tokens: 11 + pieces.length };
  const finish = inputs.length > 0 ? 'tool_calls' : 'stop';
  yield { data: chunk({}, finish, { usage: { ...usage, prompt_tokens_details: { cached_tokens: 3 } } }) };
}

function* geminiEvents({ thinking, pieces, calls }: Answer, { tools }: JsonObject): Generator<Event> {
  const chunk = (parts: JsonObject[], rest: JsonObject = {}): JsonObject => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
  });
  if (thinking !== '') yield { data: chunk([{ text: thinking, thought: true }]) };
  for (const text of pieces) yield { data: chunk([{ text }]), isPiece: true };
  const [offered] = Array.isArray(tools) ? tools : [];
  const functions = isJsonObject(offered) ? offered['functionDeclarations'] : [];
  const [tool] = Array.isArray(functions) ? functions : [];
  const name = isJsonObject(tool) ? (tool['name'] ?? '') : '';
  for (const args of calls) yield { data: chunk([{ functionCall: { name, args } }]) };
  const thoughtsTokenCount = thinking === '' ? 0 : 5;
  yield {
    data: {
      ...chunk([{ text: '' }], { finishReason: 'STOP' }),
      usageMetadata: {
        promptTokenCount: 11,
        cachedContentTokenCount: 3,
        candidatesTokenCount: pieces.length,
        thoughtsTokenCount,
        totalTokenCount: 11 + pieces.length + thoughtsTokenCount,
      },
    },
  };
}

function errorBody(path: string, status: number): JsonObject {
  const message = `fake ${status}`;
  if (path.endsWith('/messages')) {
    const type = status === 429 ? 'rate_limit_error' : status === 401 ? 'authentication_error' : 'api_error';
    return { type: 'error', error: { type, message } };
  }
  if (path.endsWith('/responses') || path.endsWith('/chat/completions')) {
    return { error: { message, type: 'fake', param: null, code: null } };
  }
  return { error: { code: status, message, status: 'UNAVAILABLE' } };
}

const smallPieces = (json: string): string[] => json.match(/.{1,5}/g) ?? [];

function split(text: string): string[] {
  return text.match(/\S+\s*/g) ?? [text];
}

/** Returns the last text of the last turn by the user, in any of the three shapes. */
function lastText({ messages, input, contents }: JsonObject): string {
  const turns = [messages, input, contents].find(Array.isArray) ?? [];
  const last = turns.findLast(
    (turn) =>
      isJsonObject(turn) &&
      (turn['role'] === 'user' || turn['role'] === 'tool' || turn['type'] === 'function_call_output'),
  );
  if (!isJsonObject(last)) return '';
  const content = last['content'] ?? last['parts'] ?? last['output'];
  if (typeof content === 'string') return content;
  return textsIn(content).at(-1) ?? '';
}

/** Returns the texts of a turn's parts, including those of tool results. */
function textsIn(content: Json | undefined): string[] {
  return (Array.isArray(content) ? content : []).flatMap((part) => {
    if (!isJsonObject(part)) return [];
    const { functionResponse: result } = part;
    if (isJsonObject(result) && isJsonObject(result['response'])) {
      const { output } = result['response'];
      return typeof output === 'string' ? [output] : [];
    }
    if (part['type'] !== 'tool_result') return typeof part['text'] === 'string' ? [part['text']] : [];
    return typeof part['content'] === 'string' ? [part['content']] : textsIn(part['content']);
  });
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const text = await readText(request);
  const parsed: unknown = text === '' ? {} : JSON.parse(text);
  return isJsonObject(parsed) ? parsed : {};
}
