import type { JsonObject } from '#shared/core/json.ts';
import { describeClientTool, isClientTool } from '#shared/formats/messages/client-tools.ts';
import { writeHostedBlockText } from '#shared/formats/messages/hosted/hosted-block.ts';
import {
  type MessagesBlock,
  type MessagesRequest,
  type MessagesTool,
  readSystemTexts,
} from '#shared/formats/messages/request.ts';
import { expandSummary } from '#shared/translate/context/expand-summary.ts';
import { isToolChange, resolveOfferedTools, writeReferenceText } from '#shared/translate/context/offered-tools.ts';
import { arrangeTurns, type Turn } from '#shared/translate/conversation/arrange-turns.ts';
import { requestsFeature } from '#shared/formats/request-feature.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { createUnsupportedMessagesError } from '#shared/translate/unsupported.ts';

export interface ClaudeRequest {
  model: string;
  /** All system text, joined; empty if there is none. */
  system: string;
  /** Earlier turns. User and assistant alternate; the first turn is the user's, the last one the assistant's. */
  history: Turn<MessagesBlock>[];
  /** The last turn, which is a user turn. */
  question: MessagesBlock[];
  tools: string[];
  isThinking: boolean;
  /** Fields that Claude Code adds unchanged to its request to the upstream. */
  fields: JsonObject;
}

/** Names of fields in the client's format, for errors. */
export interface ClientParams {
  turns: string;
  format: string;
}

/**
 * Fields of a request in the `messages` format that Claude Code cannot send to its upstream, each with the feature that it requests. A
 * request with one of these fields is refused, because the answer would be wrong.
 */
const refusedFields: Readonly<Record<string, string>> = {
  mcp_servers: 'MCP servers that the upstream connects to',
  container: 'a container on the upstream',
  compaction: 'a request for a summary in place of an answer',
};

/** Fields that the upstream gets exactly as the client sent them. */
const passedFields = [
  ['max_tokens', 'stop_sequences', 'temperature', 'top_p', 'top_k'],
  ['tool_choice', 'output_config', 'context_management'],
].flat();

/**
 * Converts a request in the `messages` format into a request to Claude Code.
 * @throws RouterError `unsupported_parameter` that names the field that Claude Code cannot serve
 */
export function readClaudeRequest(body: JsonObject, traits: ModelTraits, params: ClientParams): ClaudeRequest {
  const request = moveOutputFormat(expandSummary(body as MessagesRequest));
  const tools = resolveOfferedTools(request);
  assertServable(request, tools, traits, params);
  const system = readSystemTexts(request.system ?? '');
  const turns: Turn<MessagesBlock>[] = [];
  for (const [index, { role, content }] of request.messages.entries()) {
    if (role === 'system') system.push(...readSystemTexts(content));
    else turns.push({ role, blocks: toBlocks(content, `messages.${index}.content`) });
  }
  const { thinking } = request;
  const isThinking =
    requestsFeature(thinking ?? undefined) && !['disabled', 'between_tools'].includes(thinking?.type ?? '');
  return {
    model: traits.model,
    system: system.join('\n\n'),
    ...arrangeTurns(turns, params.turns),
    tools: tools.map(({ name }) => name),
    isThinking,
    // If the client sets no budget, Claude Code decides how the model thinks.
    fields: {
      ...pickPassedFields(request),
      ...(thinking?.type === 'enabled' && { thinking }),
      ...(tools.length > 0 && { tools: tools.map(removeUnsupportedFields) }),
    },
  };
}

/** Moves `output_format`, the older name, to `output_config.format`. */
function moveOutputFormat({ output_format: format, ...request }: MessagesRequest): MessagesRequest {
  if (format === undefined || format === null) return request;
  return { ...request, output_config: { format, ...request.output_config } };
}

function assertServable(
  request: MessagesRequest,
  tools: readonly MessagesTool[],
  { takesTools, takesSchemas }: ModelTraits,
  params: ClientParams,
): void {
  for (const [field, feature] of Object.entries(refusedFields)) {
    if (requestsFeature(request[field])) throw createUnsupportedMessagesError(field, feature);
  }
  if (takesSchemas !== true && requestsFeature(request.output_config?.format ?? undefined)) {
    throw createUnsupportedMessagesError(params.format, 'an output format', 'structured_outputs_unsupported');
  }
  if (takesTools !== true && tools.length > 0) throw createUnsupportedMessagesError('tools', 'tools of the client');
  for (const [index, tool] of tools.entries()) {
    const { type } = tool;
    if (typeof type === 'string' && type !== 'custom' && !isClientTool(tool)) {
      throw createUnsupportedMessagesError(`tools.${index}.type`, `tools of type '${type}'`);
    }
  }
}

function pickPassedFields(request: MessagesRequest): JsonObject {
  const requestedFields = passedFields.filter((field) => requestsFeature(request[field]) || request[field] === 0);
  return Object.fromEntries(requestedFields.map((field) => [field, request[field] ?? null]));
}

/** Returns a tool without cache hints, and without fields that the upstream accepts only from clients that name a beta. */
function removeUnsupportedFields(tool: MessagesTool): MessagesTool {
  const {
    cache_control: _,
    defer_loading: _deferred,
    input_examples: _examples,
    allowed_callers: _callers,
    ...rest
  } = tool;
  return tool.type?.startsWith('computer_') ? describeClientTool(rest) : rest;
}

function toBlocks(content: string | readonly MessagesBlock[], param: string): MessagesBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((block, index) => toBlock(block, `${param}.${index}`));
}

/** Drops cache hints, because Claude Code sets cache hints itself, and the upstream limits their number. */
function toBlock(block: MessagesBlock, param: string): MessagesBlock[] {
  const { cache_control: _, ...kept } = block;
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
    case 'document':
    case 'thinking':
    case 'tool_use':
      return [kept];
    case 'tool_result': {
      const { content } = block;
      const nestedContent = Array.isArray(content) ? { content: toBlocks(content, `${param}.content`) } : {};
      return [{ ...kept, ...nestedContent } as MessagesBlock];
    }
    case 'tool_reference':
      return [{ type: 'text', text: writeReferenceText(block) }];
    // Claude Code does not accept redacted thinking.
    case 'redacted_thinking':
      return [];
    default: {
      const hostedText = writeHostedBlockText(block);
      if (hostedText !== undefined) return [{ type: 'text', text: hostedText }];
      if (isToolChange(block)) return [];
      const type: string = block.type;
      if (type === 'search_result') return [kept];
      throw createUnsupportedMessagesError(`${param}.type`, `content of type '${type}'`);
    }
  }
}
