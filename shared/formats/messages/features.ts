import { requestsFeature, type RequestFeature, type RequestFeatures } from '../request-feature.ts';
import { isClientTool } from './client-tools.ts';
import { isHostedName } from './hosted/hosted-block.ts';
import { detectHostedKind } from './hosted/find-hosted-tools.ts';
import type { MessagesBlock, MessagesRequest, MessagesTool } from './request.ts';

/**
 * Block types that do not count as the feature `other_content`, because every upstream accepts them or they have a feature of their own.
 */
const knownBlocks: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'tool_reference',
  'tool_addition',
  'tool_removal',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'compaction',
  'search_result',
]);

/** Types of a tool that searches the other tools of the request, on the upstream. Without the search, the model gets all tools. */
const toolSearchType = /^tool_search_tool_/;

export const messagesFeatures: RequestFeatures<MessagesRequest> = { collectMarks, features: createFeatures() };

function createFeatures(): RequestFeature<MessagesRequest>[] {
  const user = createUserMessages('hi');
  const pdf = { type: 'base64' as const, media_type: 'application/pdf', data: 'JVBERi0=' };
  return [
    {
      name: 'documents',
      example: createUserMessages([
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
      ]),
      isIn: (_, marks) => marks.has('document'),
    },
    {
      name: 'pdf',
      example: createUserMessages([{ type: 'document', source: pdf }]),
      isIn: (_, marks) => marks.has('document base64'),
    },
    {
      name: 'document_urls',
      example: createUserMessages([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }]),
      isIn: (_, marks) => marks.has('document url'),
    },
    {
      name: 'file_ids',
      example: createUserMessages([{ type: 'image', source: { type: 'file', file_id: 'file_1' } }]),
      isIn: (_, marks) => marks.has('image file') || marks.has('document file'),
    },
    {
      name: 'search_results',
      example: createUserMessages([
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'r' }] } as never,
      ]),
      isIn: (_, marks) => marks.has('search_result'),
    },
    {
      name: 'other_content',
      example: createUserMessages([{ type: 'container_upload', file_id: 'file_1' } as never]),
      isIn: (_, marks) => marks.has('other'),
    },
    {
      name: 'tool_history',
      example: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'r' }] },
        ],
      },
      isIn: (_, marks) => marks.has('tool_use') || marks.has('tool_result'),
    },
    {
      name: 'prefill',
      example: { messages: [...user.messages, { role: 'assistant', content: 'The' }] },
      isIn: ({ messages }) => messages.at(-1)?.role === 'assistant',
    },
    {
      name: 'upstream_tools',
      example: { ...user, tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] },
      isIn: ({ tools }) => (tools ?? []).some(runsOnlyOnUpstream),
    },
    {
      name: 'forced_tools',
      example: { ...user, tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
      isIn: ({ tools, tool_choice: choice }) =>
        requestsFeature(tools) && (choice?.type === 'any' || choice?.type === 'tool'),
    },
    {
      name: 'image_urls',
      example: createUserMessages([{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }]),
      isIn: (_, marks) => marks.has('image url'),
    },
    {
      name: 'mcp_servers',
      example: { ...user, mcp_servers: [{ type: 'url', name: 'm', url: 'https://example.com/' }] },
      isIn: ({ mcp_servers: servers }) => requestsFeature(servers),
    },
    {
      name: 'container',
      example: { ...user, container: 'container_1' },
      isIn: ({ container }) => requestsFeature(container),
    },
    {
      name: 'compaction',
      example: { ...user, compaction: { type: 'enabled' } },
      isIn: ({ compaction }) => requestsFeature(compaction),
    },
    {
      name: 'cache_warming',
      example: { ...user, max_tokens: 0 },
      isIn: ({ max_tokens: limit }) => limit === 0,
    },
    {
      name: 'stop_sequences',
      example: { ...user, stop_sequences: ['END'] },
      isIn: ({ stop_sequences: stop }) => requestsFeature(stop),
    },
  ];
}

function createUserMessages(content: string | MessagesBlock[]): Pick<MessagesRequest, 'max_tokens' | 'messages'> {
  return { max_tokens: 1, messages: [{ role: 'user', content }] };
}

function collectMarks({ messages }: MessagesRequest): ReadonlySet<string> {
  const marks = new Set<string>();
  for (const { content } of messages) addMarks(content, marks);
  return marks;
}

function addMarks(content: string | readonly MessagesBlock[] | null | undefined, marks: Set<string>): void {
  if (!Array.isArray(content)) return;
  for (const block of content as readonly MessagesBlock[]) {
    marks.add(block.type);
    if (!knownBlocks.has(block.type)) marks.add('other');
    if (block.type === 'server_tool_use' && !isHostedName(block.name)) marks.add('other');
    if (block.type === 'tool_result') addMarks(block.content, marks);
    if (block.type !== 'image' && block.type !== 'document') continue;
    marks.add(`${block.type} ${block.source.type}`);
    if (block.source.type === 'content') addMarks(block.source.content, marks);
  }
}

/**
 * Whether a tool runs only on the upstream. Tools of the hosted kinds are excluded, because the router runs them if no upstream does. They
 * are needs of the request (`Needs.hosted`).
 */
function runsOnlyOnUpstream(tool: MessagesTool): boolean {
  const { type } = tool;
  if (type === undefined || type === null || type === 'custom' || toolSearchType.test(type)) return false;
  return detectHostedKind(tool) === undefined && !isClientTool(tool);
}
