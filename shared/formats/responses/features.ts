import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { RequestFeature, RequestFeatures } from '../request-feature.ts';
import { addsTools, listRequestTools } from './hosted/request-tools.ts';
import type { ResponsesItem, ResponsesPart, ResponsesRequest, ResponsesTool } from './request.ts';

/** Item types without relation to a tool. */
const plainItems: ReadonlySet<string> = new Set(['message', 'reasoning', 'compaction', 'compaction_trigger']);

/** Item types of calls of the client's tools, and of the results of these calls. */
const toolItems: ReadonlySet<string> = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'tool_search_call',
  'tool_search_output',
]);

/** Item types of calls of hosted tools. */
const hostedItems: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
]);

const knownParts: ReadonlySet<string> = new Set([
  'input_text',
  'output_text',
  'text',
  'summary_text',
  'reasoning_text',
  'refusal',
  'input_image',
  'input_file',
]);

/** Matches the types of tools that do not run only on the upstream: the client's tools, and tools that the router may run. */
const knownTools = /^(?:function|custom|namespace|mcp|web_search.*)$/;

export const responsesFeatures: RequestFeatures<ResponsesRequest> = { collectMarks, features: createFeatures() };

function createFeatures(): RequestFeature<ResponsesRequest>[] {
  const createFilePart = (fields: object): ResponsesPart => ({ type: 'input_file', filename: 'a.txt', ...fields });
  const [text, pdf] = ['data:text/plain;base64,aGk=', 'data:application/pdf;base64,JVBERi0='];
  const user = { input: 'hi' };
  return [
    {
      name: 'documents',
      example: createUserInput([createFilePart({ file_data: text })]),
      isIn: (_, marks) => marks.has('file'),
    },
    {
      name: 'pdf',
      example: createUserInput([createFilePart({ file_data: pdf, filename: 'a.pdf' })]),
      isIn: (_, marks) => marks.has('pdf'),
    },
    {
      name: 'file_urls',
      example: createUserInput([createFilePart({ file_url: 'https://example.com/a.pdf' })]),
      isIn: (_, marks) => marks.has('file by URL'),
    },
    {
      name: 'file_ids',
      example: createUserInput([{ type: 'input_image', file_id: 'file-1' }]),
      isIn: (_, marks) => marks.has('by id'),
    },
    {
      name: 'other_content',
      example: createUserInput([{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } } as never]),
      isIn: (_, marks) => marks.has('other part'),
    },
    {
      name: 'tool_history',
      example: {
        input: [
          { type: 'message', role: 'user', content: 'hi' },
          { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'call_1', output: 'r' },
        ],
      },
      isIn: (_, marks) => marks.has('tool item'),
    },
    {
      name: 'other_items',
      example: { input: [{ type: 'computer_call', id: 'cu_1', call_id: 'call_1', action: { type: 'wait' } }] },
      isIn: (_, marks) => marks.has('other item'),
    },
    {
      name: 'prefill',
      example: {
        input: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'The' },
        ],
      },
      isIn: ({ input }) => Array.isArray(input) && isAssistantMessage(input.at(-1)),
    },
    {
      name: 'upstream_tools',
      example: { ...user, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      isIn: (request) => listRequestTools(request).some(({ tool }) => runsOnlyOnUpstream(tool)),
    },
    {
      name: 'forced_tools',
      example: { ...user, tools: [{ type: 'function', name: 'f', parameters: {} }], tool_choice: 'required' },
      isIn: ({ tools, tool_choice: choice }) =>
        (tools ?? []).length > 0 && (choice === 'required' || (isJsonObject(choice) && !allowsAnswers(choice))),
    },
    {
      name: 'json_objects',
      example: { ...user, text: { format: { type: 'json_object' } } },
      isIn: ({ text }) => text?.format?.type === 'json_object',
    },
    {
      name: 'loose_schemas',
      example: { ...user, text: { format: { type: 'json_schema', name: 'a', schema: {} } } },
      isIn: ({ text }) => text?.format?.type === 'json_schema' && text.format['strict'] !== true,
    },
    {
      name: 'image_urls',
      example: createUserInput([{ type: 'input_image', image_url: 'https://example.com/a.png' }]),
      isIn: (_, marks) => marks.has('image by URL'),
    },
    {
      name: 'prompts',
      example: { ...user, prompt: { id: 'pmpt_1' } },
      isIn: ({ prompt }) => prompt !== undefined && prompt !== null,
    },
    {
      name: 'logprobs',
      example: { ...user, top_logprobs: 1, include: ['message.output_text.logprobs'] },
      isIn: ({ top_logprobs: top, include }) =>
        (typeof top === 'number' && top > 0) || include?.includes('message.output_text.logprobs') === true,
    },
  ];
}

function createUserInput(content: ResponsesPart[]): { input: ResponsesItem[] } {
  return { input: [{ role: 'user', content }] };
}

function collectMarks({ input }: ResponsesRequest): ReadonlySet<string> {
  const marks = new Set<string>();
  for (const item of Array.isArray(input) ? input : []) {
    const type = item.type ?? 'message';
    if (toolItems.has(type)) marks.add('tool item');
    else if (!plainItems.has(type) && !hostedItems.has(type) && !addsTools(item)) marks.add('other item');
    const { content, output } = item as { content?: unknown; output?: unknown };
    if (type === 'message' || toolItems.has(type)) addMarks(Array.isArray(output) ? output : content, marks);
  }
  return marks;
}

function addMarks(content: unknown, marks: Set<string>): void {
  if (!Array.isArray(content)) return;
  for (const part of content as ResponsesPart[]) {
    if (!knownParts.has(part.type)) marks.add('other part');
    if (part.type === 'input_image' && typeof part.image_url !== 'string') marks.add('by id');
    if (part.type === 'input_image' && /^https?:/i.test(part.image_url ?? '')) marks.add('image by URL');
    if (part.type !== 'input_file') continue;
    const { file_data: data, file_url: url } = part;
    if (typeof data === 'string') {
      marks.add('file');
      if (/^data:application\/pdf/i.test(data)) marks.add('pdf');
    } else marks.add(typeof url === 'string' ? 'file by URL' : 'by id');
  }
}

function isAssistantMessage(item: ResponsesItem | undefined): boolean {
  return item !== undefined && (item.type ?? 'message') === 'message' && 'role' in item && item.role === 'assistant';
}

/** Whether a tool choice limits the tools but does not require a call. */
function allowsAnswers({ type, mode }: JsonObject): boolean {
  return type === 'allowed_tools' && mode !== 'required';
}

/** Whether a tool runs only on the upstream. A tool search runs there unless its `execution` is `client`. */
function runsOnlyOnUpstream(tool: ResponsesTool): boolean {
  if (tool.type === 'tool_search') return tool['execution'] !== 'client';
  return !knownTools.test(tool.type);
}
