import { isJsonObject } from '#shared/core/json.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
  MessagesTool,
  ToolChangeBlock,
  ToolReferenceBlock,
} from '#shared/formats/messages/request.ts';

/** Matches the tool types with which Anthropic's platform searches deferred tools. */
const searchToolType = /^tool_search_tool_/;

/**
 * Returns the tools to offer to an upstream of another format: the request's tools, changed by the additions and removals in its system
 * messages. A tool with `defer_loading` is offered once the conversation refers to it, as on Anthropic's platform. Such references come
 * from Claude Code's own search, which answers with `tool_reference` blocks. If the platform itself would search, all tools are offered,
 * because other upstreams cannot search.
 */
export function resolveOfferedTools({ tools, messages, tool_choice: choice }: MessagesRequest): MessagesTool[] {
  const allTools = tools ?? [];
  const hasSearchTool = allTools.some(isSearchTool);
  const isDeferred = ({ defer_loading: deferred }: MessagesTool): boolean => deferred === true && !hasSearchTool;
  const referredNames = allTools.some(isDeferred) ? findReferredNames(messages) : new Set<string>();
  if (choice?.type === 'tool') referredNames.add(choice.name);
  let offered = allTools.filter((tool) => !isSearchTool(tool) && (!isDeferred(tool) || referredNames.has(tool.name)));
  for (const { role, content } of messages) {
    if (role !== 'system' || typeof content === 'string') continue;
    for (const block of content) if (isToolChange(block)) offered = applyToolChange(offered, allTools, block);
  }
  return offered;
}

/** Returns the text that replaces a tool reference for a model without tool search. */
export function writeReferenceText({ tool_name: name }: ToolReferenceBlock): string {
  return `The tool ${name} can be called now.`;
}

/** Whether a block of a system message changes the tools. Such a block has no text. */
export function isToolChange(block: MessagesBlock): block is ToolChangeBlock {
  return block.type === 'tool_addition' || block.type === 'tool_removal';
}

function isSearchTool({ type }: MessagesTool): boolean {
  return typeof type === 'string' && searchToolType.test(type);
}

function applyToolChange(
  offered: MessagesTool[],
  tools: readonly MessagesTool[],
  { type, tool }: ToolChangeBlock,
): MessagesTool[] {
  const definition = tool['type'] === 'tool_definition' ? tool['definition'] : undefined;
  const name = isJsonObject(definition) ? definition['name'] : (tool['name'] ?? tool['tool_name']);
  const others = offered.filter((each) => each.name !== name);
  if (type === 'tool_removal') return others;
  const addedTool = isJsonObject(definition) ? (definition as MessagesTool) : tools.find((each) => each.name === name);
  return addedTool ? [...others, addedTool] : offered;
}

/** Returns the names of tools that tool results refer to, and of tools that the model has called. */
function findReferredNames(messages: readonly MessagesMessage[]): Set<string> {
  const names = new Set<string>();
  for (const { content } of messages) {
    for (const block of typeof content === 'string' ? [] : content) {
      if (block.type === 'tool_use') names.add(block.name);
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) continue;
      for (const inner of block.content) if (inner.type === 'tool_reference') names.add(inner.tool_name);
    }
  }
  return names;
}
