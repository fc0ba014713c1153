import { isJsonObject, type Json } from '#shared/core/json.ts';
import { estimateTokens, imageTokens } from '../estimate-tokens.ts';
import type { Needs } from '../client-format.ts';
import { findFeatures } from '../request-feature.ts';
import { chatFeatures } from './features.ts';
import type { ChatContent, ChatPart, ChatRequest } from './request.ts';

/** Estimated tokens that a message takes besides its content. */
const messageTokens = 4;

export function computeChatNeeds(request: ChatRequest): Needs {
  const { tools, messages, response_format: format } = request;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  let vision = false;
  let inputTokens = hasTools ? estimateTokens(JSON.stringify(tools)) : 0;
  for (const message of messages) {
    inputTokens += messageTokens + estimateContentTokens(message.content);
    vision ||= Array.isArray(message.content) && message.content.some(isImage);
    if (message.role !== 'assistant') continue;
    for (const call of message.tool_calls ?? []) inputTokens += estimateTokens(JSON.stringify(call));
  }
  const features = findFeatures(chatFeatures, request);
  return {
    tools: hasTools && request.tool_choice !== 'none',
    vision,
    thinking: asksForThinking(request),
    json: format !== undefined && format !== null && format.type !== 'text',
    inputTokens,
    features: features.length > 0 ? features : undefined,
  };
}

function estimateContentTokens(content: ChatContent | null | undefined): number {
  if (content === null || content === undefined) return 0;
  if (typeof content === 'string') return estimateTokens(content);
  return content.reduce((sum, part) => sum + estimatePartTokens(part), 0);
}

function estimatePartTokens(part: ChatPart): number {
  if (part.type === 'text') return estimateTokens(part.text);
  return isImage(part) ? imageTokens : estimateTokens(JSON.stringify(part));
}

function isImage(part: ChatPart): boolean {
  return part.type === 'image_url';
}

/** Whether a request asks for thinking in any of the forms that engines define. */
function asksForThinking(request: ChatRequest): boolean {
  const { reasoning_effort: effort, reasoning, thinking, chat_template_kwargs: template } = request;
  return (
    asksForEffort(effort) ||
    (isJsonObject(reasoning) && (asksForEffort(reasoning['effort']) || reasoning['enabled'] === true)) ||
    (isJsonObject(thinking) && thinking['type'] !== 'disabled') ||
    (isJsonObject(template) && (template['enable_thinking'] === true || template['thinking'] === true))
  );
}

function asksForEffort(effort: Json | undefined): boolean {
  return effort !== undefined && effort !== null && effort !== 'none' && effort !== 0;
}
