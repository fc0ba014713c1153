import type { JsonObject } from '#shared/core/json.ts';

export function chatChunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  return { id: 'x', model: 'e', choices: [{ index: 0, delta, finish_reason: finish, ...more }] };
}

/** A piece of a call in a chat stream. The first piece has the tool's name. */
export function callPiece(index: number, text: string, name?: string): JsonObject {
  const id = name === undefined ? {} : { id: `c${index}`, type: 'function' };
  const call = { index, ...id, function: { ...(name !== undefined && { name }), arguments: text } };
  return chatChunk({ tool_calls: [call] });
}

/** The beginning of a messages upstream's stream. */
export const messageStart = {
  type: 'message_start',
  message: {
    id: 'x',
    type: 'message',
    role: 'assistant',
    model: 'u',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 20, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 },
  },
};

/** A block of a messages upstream's stream, with its deltas. */
export function messageBlock(index: number, block: JsonObject, ...deltas: JsonObject[]): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export function inputDeltas(...pieces: string[]): JsonObject[] {
  return pieces.map((text) => ({ type: 'input_json_delta', partial_json: text }));
}

/** The end of a messages upstream's stream. */
export function messageEnd(reason: string, more: JsonObject = {}): JsonObject[] {
  const usage = { input_tokens: null, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } };
  return [
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null, ...more }, usage },
    { type: 'message_stop' },
  ];
}

/** The end of a Responses upstream's stream. */
export function responseEnd(fields: JsonObject & { status?: string } = {}): JsonObject {
  const usage = {
    input_tokens: 28,
    input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 37,
  };
  const { status = 'completed' } = fields;
  return { type: `response.${status}`, response: { id: 'r', output: [], status, usage, ...fields } };
}

const thinkingDeltas = [
  { type: 'thinking_delta', thinking: 'hm' },
  { type: 'signature_delta', signature: 's' },
];
const said = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] };
const calls = [
  { id: 'fc_a', type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"x":1}' },
  { id: 'fc_b', type: 'function_call', call_id: 'c1', name: 'g', arguments: '{}' },
] as const;

export const chatUsage = {
  prompt_tokens: 28,
  completion_tokens: 9,
  total_tokens: 37,
  prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

/** The same answer as upstreams of each format stream it: thinking, text, two parallel calls, and the usage. */
export const upstreamStreams: Readonly<Record<'chat' | 'messages' | 'responses', readonly (JsonObject | string)[]>> = {
  chat: [
    chatChunk({ role: 'assistant', content: '' }),
    chatChunk({ reasoning: 'h' }),
    chatChunk({ reasoning_content: 'm' }),
    chatChunk({ content: 'Hel' }),
    chatChunk({ content: 'lo' }),
    callPiece(0, '{"x"', 'f'),
    callPiece(1, '{}', 'g'),
    callPiece(0, ':1}'),
    chatChunk({}, 'stop'),
    { choices: [], usage: chatUsage },
    '[DONE]',
  ],
  messages: [
    messageStart,
    { type: 'ping' },
    ...messageBlock(0, { type: 'thinking', thinking: '', signature: '' }, ...thinkingDeltas),
    ...messageBlock(1, { type: 'text', text: 'He' }, { type: 'text_delta', text: 'llo' }),
    ...messageBlock(2, { type: 'tool_use', id: 'c0', name: 'f', input: {} }, ...inputDeltas('', '{"x":', '1}')),
    ...messageBlock(3, { type: 'tool_use', id: 'c1', name: 'g', input: {} }),
    ...messageEnd('tool_use'),
  ],
  responses: [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { id: 'rs', type: 'reasoning', summary: [] } },
    { type: 'response.reasoning_text.delta', output_index: 0, item_id: 'rs', content_index: 0, delta: 'hm' },
    { type: 'response.output_item.added', output_index: 1, item: { ...said, content: [] } },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'm', content_index: 0, delta: 'Hel' },
    { type: 'response.output_text.delta', output_index: 1, item_id: 'm', content_index: 0, delta: 'lo' },
    ...calls.map((call, at) => {
      const item = { ...call, arguments: '', status: 'in_progress' };
      return { type: 'response.output_item.added', output_index: 2 + at, item };
    }),
    { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_a', delta: '{"x"' },
    { type: 'response.function_call_arguments.delta', output_index: 3, item_id: 'fc_b', delta: '{}' },
    { type: 'response.function_call_arguments.delta', output_index: 2, item_id: 'fc_a', delta: ':1}' },
    ...calls.map((item, at) => ({ type: 'response.output_item.done', output_index: 2 + at, item })),
    responseEnd(),
  ],
};
