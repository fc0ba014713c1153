import { requestsFeature, type RequestFeature, type RequestFeatures } from '../request-feature.ts';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { ChatContent, ChatMessage, ChatRequest } from './request.ts';

/** Part types that do not count as the feature `other_content`, because every upstream accepts them or they have a feature of their own. */
const knownParts: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url', 'file', 'input_audio']);

/** Response formats that do not count as the feature `other_formats`. */
const knownFormats: ReadonlySet<string> = new Set(['text', 'json_object', 'json_schema']);

/** Marks of tool calls of types other than `function`, and of the deprecated field `function_call`. */
const customCall = 'call of a custom tool';
const otherCall = 'call of another type';
const olderCall = 'function_call';

export const chatFeatures: RequestFeatures<ChatRequest> = { collectMarks, features: createFeatures() };

function createFeatures(): RequestFeature<ChatRequest>[] {
  const [user, other] = [createUserMessages('hi'), { type: 'other' } as never];
  const call = { id: 'call_1', type: 'function' as const, function: { name: 'f', arguments: '{}' } };
  const custom = { id: 'call_1', type: 'custom' as const, custom: { name: 'f', input: '' } };
  return [
    {
      name: 'audio_input',
      example: createUserMessages([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]),
      isIn: (_, marks) => marks.has('input_audio'),
    },
    {
      name: 'documents',
      example: createUserMessages([
        { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } },
      ]),
      isIn: (_, marks) => marks.has('file'),
    },
    {
      name: 'file_ids',
      example: createUserMessages([{ type: 'file', file: { file_id: 'file-1' } }]),
      isIn: (_, marks) => marks.has('file by id'),
    },
    {
      name: 'other_content',
      example: createUserMessages([{ type: 'video_url', video_url: { url: 'https://example.com/' } } as never]),
      isIn: (_, marks) => [...marks].some((part) => part.startsWith('part ') && !knownParts.has(part.slice(5))),
    },
    {
      name: 'tool_history',
      example: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: call.id, content: 'r' },
        ],
      },
      isIn: (_, marks) => marks.has('tool_calls') || marks.has('tool'),
    },
    {
      name: 'custom_tool_calls',
      example: { messages: [{ role: 'assistant', tool_calls: [custom] }, ...user.messages] },
      isIn: (_, marks) => marks.has(customCall),
    },
    {
      name: 'other_tool_calls',
      example: { messages: [{ role: 'assistant', tool_calls: [other] }, ...user.messages] },
      isIn: (_, marks) => marks.has(otherCall),
    },
    {
      name: 'older_tool_calls',
      example: {
        messages: [{ role: 'assistant', content: null, function_call: call.function }, ...user.messages],
      },
      isIn: (_, marks) => marks.has(olderCall),
    },
    {
      name: 'prefill',
      example: { messages: [...user.messages, { role: 'assistant', content: 'The' }] },
      isIn: ({ messages }) => messages.at(-1)?.role === 'assistant',
    },
    {
      name: 'custom_tools',
      example: { ...user, tools: [{ type: 'custom', custom: { name: 'f' } }] },
      isIn: ({ tools }) => (tools ?? []).some(({ type }) => type === 'custom'),
    },
    {
      name: 'other_tools',
      example: { ...user, tools: [other] },
      isIn: ({ tools }) => (tools ?? []).some(({ type }) => isOtherTool(type)),
    },
    {
      name: 'forced_tools',
      example: { ...user, tools: [{ type: 'function', function: call.function }], tool_choice: 'required' },
      isIn: ({ tools, tool_choice: choice }) =>
        requestsFeature(tools) && (choice === 'required' || isJsonObject(choice)),
    },
    {
      name: 'older_tools',
      example: { ...user, functions: [{ name: 'f' }] },
      isIn: ({ functions, function_call: choice }) => requestsFeature(functions) || requestsFeature(choice),
    },
    {
      name: 'web_search_options',
      example: { ...user, web_search_options: {} },
      isIn: ({ web_search_options: options }) => requestsFeature(options),
    },
    {
      name: 'logprobs',
      example: { ...user, logprobs: true },
      isIn: ({ logprobs, top_logprobs: top }) => requestsFeature(logprobs) || requestsFeature(top),
    },
    {
      name: 'audio_output',
      example: { ...user, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
      isIn: ({ modalities, audio }) =>
        requestsFeature(audio) || (Array.isArray(modalities) && modalities.includes('audio')),
    },
    {
      name: 'other_formats',
      example: { ...user, response_format: { type: 'grammar', grammar: 'root ::= "a"' } },
      isIn: ({ response_format: format }) => format !== null && format !== undefined && !knownFormats.has(format.type),
    },
    {
      name: 'several_choices',
      example: { ...user, n: 2 },
      isIn: ({ n }) => (n ?? 1) > 1,
    },
    {
      name: 'json_objects',
      example: { ...user, response_format: { type: 'json_object' } },
      isIn: ({ response_format: format }) => format?.type === 'json_object',
    },
    {
      name: 'loose_schemas',
      example: { ...user, response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
      isIn: ({ response_format: format }) => format?.type === 'json_schema' && !isStrict(format['json_schema']),
    },
    {
      name: 'image_urls',
      example: createUserMessages([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]),
      isIn: (_, marks) => marks.has('image by URL'),
    },
    {
      name: 'stop_sequences',
      example: { ...user, stop: ['END'] },
      isIn: ({ stop }) => requestsFeature(stop),
    },
  ];
}

function createUserMessages(content: ChatContent): { messages: ChatMessage[] } {
  return { messages: [{ role: 'user', content }] };
}

function collectMarks({ messages }: ChatRequest): ReadonlySet<string> {
  const marks = new Set<string>();
  for (const message of messages) {
    marks.add(message.role);
    if (Array.isArray(message.content)) {
      for (const part of message.content) {
        marks.add(`part ${part.type}`);
        if (part.type === 'input_audio') marks.add(part.type);
        if (part.type === 'image_url' && /^https?:/i.test(part.image_url.url)) marks.add('image by URL');
        if (part.type === 'file') marks.add(typeof part.file['file_data'] === 'string' ? 'file' : 'file by id');
      }
    }
    if (message.role !== 'assistant') continue;
    const { tool_calls: calls } = message;
    if (requestsFeature(calls)) marks.add('tool_calls');
    for (const { type } of calls ?? []) {
      if (type === 'custom') marks.add(customCall);
      else if (isOtherTool(type)) marks.add(otherCall);
    }
    if (requestsFeature(message[olderCall])) marks.add(olderCall);
  }
  return marks;
}

function isOtherTool(type: string): boolean {
  return type !== 'function' && type !== 'custom';
}

function isStrict(schema: Json | undefined): boolean {
  return isJsonObject(schema) && schema['strict'] === true;
}
