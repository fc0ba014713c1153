import type { Json, JsonObject } from '#shared/core/json.ts';

/** A request to llama-server, for recording its answers and for testing its adapter. */
export interface LlamaCase {
  name: string;
  method: 'GET' | 'POST';
  path: string;
  request?: JsonObject;
}

const chat = '/v1/chat/completions';

/** Returns messages with the text by which a chat case is recognized. */
export function asking(text: string): Json[] {
  return [{ role: 'user', content: text }];
}

/** A tool whose arguments a model with random weights can fill, because the grammar leaves it few choices. */
export const weatherTool: JsonObject = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['Paris', 'Rome'] }, days: { type: 'integer', enum: [1, 2] } },
      required: ['city', 'days'],
    },
  },
};

/** More than the 8192 tokens of a slot. */
export const overlong = 'abc '.repeat(9000);

const streamed = { model: 'tiny', stream: true, stream_options: { include_usage: true } };
const silent = { chat_template_kwargs: { enable_thinking: false, thinking: false } };
const tools = { tools: [weatherTool], tool_choice: 'required' };

const responsesTools = {
  ...silent,
  max_output_tokens: 2000,
  parallel_tool_calls: false,
  tool_choice: 'required',
  tools: [
    {
      type: 'function',
      name: 'get_weather',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string', enum: ['Paris'] }, days: { type: 'integer', enum: [1] } },
        required: ['city', 'days'],
      },
    },
  ],
};

export const llamaCases: LlamaCase[] = [
  { name: 'models', method: 'GET', path: '/v1/models' },
  { name: 'props', method: 'GET', path: '/props' },
  { name: 'slots', method: 'GET', path: '/slots' },
  { name: 'health', method: 'GET', path: '/health' },
  chatCase('plain-stream', { ...streamed, ...silent, messages: asking('Say something.'), max_tokens: 40 }),
  chatCase('plain-whole', { model: 'tiny', ...silent, messages: asking('Say something whole.'), max_tokens: 40 }),
  chatCase('thinking-stream', { ...streamed, messages: asking('Think it over.'), max_tokens: 400 }),
  chatCase('tool-stream', { ...streamed, ...silent, ...tools, messages: asking('Call it.'), max_tokens: 2000 }),
  chatCase('tool-whole', { model: 'tiny', ...silent, ...tools, messages: asking('Call it whole.'), max_tokens: 2000 }),
  chatCase('overflow', { model: 'tiny', messages: asking(overlong) }),
  chatCase('bad-messages', { model: 'tiny', messages: 3 }),
  {
    name: 'input-tokens',
    method: 'POST',
    path: `${chat}/input_tokens`,
    request: { model: 'tiny', ...silent, messages: asking('Say something whole.') },
  },
  probeCase('completions', { prompt: [] }),
  probeCase('embeddings', { input: [] }),
  probeCase('rerank', { query: '', documents: [] }),
  responsesCase('thinking-stream', { model: 'tiny', stream: true, input: 'Say 6', max_output_tokens: 400, seed: 6 }),
  responsesCase('tool-stream', { model: 'tiny', stream: true, input: 'Call it 1.', ...responsesTools }),
  responsesCase('whole', { model: 'tiny', input: 'Say it whole.', max_output_tokens: 12, ...silent }),
];

function chatCase(name: string, request: JsonObject): LlamaCase {
  return { name, method: 'POST', path: chat, request };
}

/** A request without input, with which a worker finds out the server's operations. */
function probeCase(name: string, request: JsonObject): LlamaCase {
  return { name: `empty-${name}`, method: 'POST', path: `/v1/${name}`, request: { model: 'tiny', ...request } };
}

function responsesCase(name: string, request: JsonObject): LlamaCase {
  return { name: `responses-${name}`, method: 'POST', path: '/v1/responses', request };
}
