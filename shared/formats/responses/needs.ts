import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import type { Needs } from '../client-format.ts';
import { findFeatures } from '../request-feature.ts';
import { responsesFeatures } from './features.ts';
import { findHostedTools } from './hosted/find-hosted-tools.ts';
import { addsTools, listRequestTools } from './hosted/request-tools.ts';
import type { ResponsesItem, ResponsesPart, ResponsesRequest } from './request.ts';

/** Estimated tokens that an item takes besides its content. */
const itemTokens = 4;

export function computeResponsesNeeds(request: ResponsesRequest): Needs {
  const { tool_choice: choice, input, instructions, reasoning, text } = request;
  const items = Array.isArray(input) ? input : [];
  const countedTools = listRequestTools(request).flatMap(({ tool }) => (isUnused(tool) ? [] : [tool]));
  let inputTokens = countedTools.length > 0 ? estimateTokens(JSON.stringify(countedTools)) : 0;
  inputTokens += estimateTokens(instructions ?? '');
  if (typeof input === 'string') inputTokens += itemTokens + estimateTokens(input);
  let vision = false;
  for (const item of items) {
    inputTokens += itemTokens + estimateItemTokens(item);
    vision ||= listParts(item).some(({ type }) => type === 'input_image');
  }
  const hosted = findHostedTools(request).map(({ kind }) => kind);
  const features = findFeatures(responsesFeatures, request);
  return {
    tools: countedTools.length > 0 && choice !== 'none',
    vision,
    thinking: typeof reasoning?.effort === 'string' && reasoning.effort !== 'none',
    json: text?.format !== undefined && text.format !== null && text.format.type !== 'text',
    inputTokens,
    hosted: hosted.length > 0 ? hosted : undefined,
    features: features.length > 0 ? features : undefined,
  };
}

/**
 * Whether a tool is a web search that only reads the vendor's cache. Such a tool counts as unused, because clients send it with every
 * request.
 */
function isUnused({ type, external_web_access: isLive }: { type: string; external_web_access?: unknown }): boolean {
  return type === 'web_search' && isLive === false;
}

function listParts(item: ResponsesItem): readonly ResponsesPart[] {
  const { content, output } = item as { content?: unknown; output?: unknown };
  const parts = Array.isArray(output) ? output : content;
  return Array.isArray(parts) ? (parts as ResponsesPart[]) : [];
}

function estimateItemTokens(item: ResponsesItem): number {
  if (addsTools(item)) return 0;
  const parts = listParts(item);
  if (parts.length > 0) return parts.reduce((sum, part) => sum + estimatePartTokens(part), 0);
  const { content, output } = item as { content?: unknown; output?: unknown };
  const wholeContent = output ?? content;
  // Encrypted content is about as long as the text in it.
  return estimateTokens(typeof wholeContent === 'string' ? wholeContent : JSON.stringify(item));
}

function estimatePartTokens(part: ResponsesPart): number {
  if (part.type === 'input_image') return imageTokens;
  if (part.type === 'input_file') return estimateFileTokens(part);
  return estimateTokens('text' in part && typeof part.text === 'string' ? part.text : JSON.stringify(part));
}

/** Estimates the tokens of a file. The text of a PDF is about a tenth of its bytes. */
function estimateFileTokens({ file_data: data }: { file_data?: string | null }): number {
  return typeof data === 'string' ? Math.ceil(estimateTokens(data) / 10) : imageTokens;
}
