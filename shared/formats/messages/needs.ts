import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import type { Needs } from '../client-format.ts';
import { findFeatures } from '../request-feature.ts';
import { messagesFeatures } from './features.ts';
import { findHostedTools } from './hosted/find-hosted-tools.ts';
import type { MessagesRequest, MessagesBlock, MessagesSource } from './request.ts';

/** Estimated tokens that a message takes besides its content. */
const messageTokens = 4;

export function computeMessagesNeeds(request: MessagesRequest): Needs {
  const { tools, messages, system, thinking } = request;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  let inputTokens = (hasTools ? estimateTokens(JSON.stringify(tools)) : 0) + estimateContentTokens(system ?? '');
  for (const { content } of messages) inputTokens += messageTokens + estimateContentTokens(content);
  const hosted = findHostedTools(request).map(({ kind }) => kind);
  const features = findFeatures(messagesFeatures, request);
  return {
    tools: hasTools && request.tool_choice?.type !== 'none',
    vision: messages.some(({ content }) => hasImage(content)),
    thinking: thinking !== undefined && thinking !== null && thinking.type !== 'disabled',
    json: (request.output_config?.format ?? request.output_format ?? null) !== null,
    inputTokens,
    hosted: hosted.length > 0 ? hosted : undefined,
    features: features.length > 0 ? features : undefined,
  };
}

function estimateContentTokens(content: string | readonly MessagesBlock[]): number {
  if (typeof content === 'string') return estimateTokens(content);
  return content.reduce((sum, block) => sum + estimateBlockTokens(block), 0);
}

function estimateBlockTokens(block: MessagesBlock): number {
  switch (block.type) {
    case 'text':
      return estimateTokens(block.text);
    case 'thinking':
      return estimateTokens(block.thinking);
    case 'image':
      return imageTokens;
    case 'document':
      return estimateSourceTokens(block.source);
    case 'tool_result':
      return estimateContentTokens(block.content ?? '');
    default:
      return estimateTokens(JSON.stringify(block));
  }
}

/** Estimates the tokens of a source. The text of a PDF is about a tenth of its bytes. */
function estimateSourceTokens(source: MessagesSource): number {
  switch (source.type) {
    case 'text':
      return estimateTokens(source.data);
    case 'content':
      return estimateContentTokens(source.content);
    case 'base64':
      return Math.ceil(estimateTokens(source.data) / 10);
    default:
      return imageTokens;
  }
}

function hasImage(content: string | readonly MessagesBlock[] | null | undefined): boolean {
  if (typeof content !== 'object' || content === null) return false;
  return content.some((block) => block.type === 'image' || (block.type === 'tool_result' && hasImage(block.content)));
}
