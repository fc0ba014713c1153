import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type {
  ChatCustomCall,
  ChatCustomTool,
  ChatMessage,
  ChatRequest,
  ChatTool,
  ChatToolCall,
  ChatToolChoice,
} from '#shared/formats/chat/request.ts';
import { flattenCustomTool } from '../responses/flatten-tools.ts';
import { inputArgument } from '../responses/input-unwrapper.ts';

/**
 * Replaces custom tools and their calls in a chat request by functions with one string, `{"input": "…"}`, for an upstream that has only
 * functions. Returns the same object if the request has no custom tools or calls. An unparsed list has one string in place of its elements
 * and stays unchanged, because it contains nothing to replace.
 */
export function convertCustomToFunctions(request: ChatRequest): ChatRequest {
  const { messages, tools, tool_choice: choice } = request;
  const hasCustomTools = tools?.some(isCustom) === true;
  if (!hasCustomTools && !messages.some(hasCustomCall)) return request;
  return {
    ...request,
    messages: messages.map((message) => (hasCustomCall(message) ? replaceCustomCalls(message) : message)),
    ...(hasCustomTools && { tools: tools.map((tool) => (tool.type === 'custom' ? toFunction(tool) : tool)) }),
    ...(isJsonObject(choice) && { tool_choice: toFunctionChoice(choice) }),
  };
}

/**
 * Returns the names of a request's custom tools, for `Translation.recall`. The translation of the answer turns calls of these functions
 * back into custom calls.
 */
export function readCustomToolNames({ tools }: JsonObject): { custom?: string[] } {
  if (!Array.isArray(tools) || !(tools as ChatCustomTool[]).some(isCustom)) return {};
  return { custom: (tools as ChatCustomTool[]).filter(isCustom).map(({ custom: { name } }) => name) };
}

/** Returns a custom tool's format without the nesting of the chat format, as `{type, syntax, definition}`. */
export function flattenCustomFormat({ custom: { format } }: ChatCustomTool): JsonObject | undefined {
  if (!isJsonObject(format)) return undefined;
  const { grammar, ...rest } = format;
  return { ...rest, ...(isJsonObject(grammar) && grammar) };
}

function isCustom({ type }: JsonObject): boolean {
  return type === 'custom';
}

function hasCustomCall(message: ChatMessage): message is ChatMessage & { role: 'assistant' } {
  return message.role === 'assistant' && message.tool_calls?.some(isCustom) === true;
}

function replaceCustomCalls(message: ChatMessage & { role: 'assistant' }): ChatMessage {
  const calls = message.tool_calls ?? [];
  return { ...message, tool_calls: calls.map((call) => (call.type === 'custom' ? toFunctionCall(call) : call)) };
}

function toFunctionCall({ custom: { name, input }, ...call }: ChatCustomCall): ChatToolCall {
  return { ...call, type: 'function', function: { name, arguments: JSON.stringify({ [inputArgument]: input }) } };
}

function toFunction({ custom, ...tool }: ChatCustomTool): ChatTool {
  const { name, description } = custom;
  const format = flattenCustomFormat({ type: 'custom', custom });
  const flat = flattenCustomTool(
    { type: 'custom', name, description: description ?? null, format: format ?? null },
    name,
  );
  const { description: text, parameters } = flat;
  return {
    ...tool,
    type: 'function',
    function: { name, ...(text !== undefined && { description: text }), parameters },
  };
}

function toFunctionChoice(choice: JsonObject & { type: string }): ChatToolChoice {
  const { custom, ...rest } = choice;
  if (choice.type === 'custom') return { ...rest, type: 'function', function: custom ?? null };
  if (choice.type !== 'allowed_tools') return choice;
  const { allowed_tools: nested, tools } = choice;
  return isJsonObject(nested)
    ? { ...choice, allowed_tools: { ...nested, tools: convertAllowedToFunctions(nested['tools']) } }
    : { ...choice, tools: convertAllowedToFunctions(tools) };
}

function convertAllowedToFunctions(tools: Json | undefined): Json {
  if (!Array.isArray(tools)) return tools ?? null;
  return tools.map((tool) => (isJsonObject(tool) && isCustom(tool) ? toFunctionChoice(tool as ChatCustomTool) : tool));
}
