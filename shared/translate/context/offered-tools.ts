import { isJsonObject, type Json } from '#shared/core/json.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
  MessagesTool,
  ToolReferenceBlock,
} from '#shared/formats/messages/request.ts';

/** Type of the tools by which Anthropic's platform searches among deferred tools. */
const searchTool = /^tool_search_tool_/;

/**
 * The tools that an upstream of another format is offered: those of the request with the additions and removals of its system messages.
 *
 * A tool with `defer_loading` is offered from the moment that the conversation refers to it, as on Anthropic's platform:
 * Claude Code's own search answers with `tool_reference` blocks. Where the platform itself would search, which other upstreams
 * cannot, all are offered.
 */
export function offeredTools({ tools, messages, tool_choice: choice }: MessagesRequest): MessagesTool[] {
  const given = tools ?? [];
  const searches = given.some(isSearchTool);
  const isDeferred = ({ defer_loading: deferred }: MessagesTool): boolean => deferred === true && !searches;
  const named = given.some(isDeferred) ? referencesIn(messages) : new Set<string>();
  if (choice?.type === 'tool') named.add(choice.name);
  const offered = new Map<string, MessagesTool>();
  for (const tool of given) {
    if (!isSearchTool(tool) && (!isDeferred(tool) || named.has(tool.name))) offered.set(tool.name, tool);
  }
  for (const { role, content } of messages) {
    if (role === 'system' && typeof content !== 'string') for (const block of content) change(offered, given, block);
  }
  return [...offered.values()];
}

/** What a model without tool search reads instead of a reference to a tool. */
export function referenceText({ tool_name: name }: ToolReferenceBlock): string {
  return `The tool ${name} can be called now.`;
}

/** Whether a block of a system message only changes the tools, and so has no text. */
export function isToolChange({ type }: MessagesBlock): boolean {
  return type === 'tool_addition' || type === 'tool_removal';
}

function isSearchTool({ type }: MessagesTool): boolean {
  return typeof type === 'string' && searchTool.test(type);
}

/** Applies a `tool_addition` or `tool_removal` block. */
function change(offered: Map<string, MessagesTool>, given: readonly MessagesTool[], block: { type: string }): void {
  const { type, tool } = block as { type: string; tool?: Json };
  if (!isJsonObject(tool)) return;
  const definition = tool['type'] === 'tool_definition' ? tool['definition'] : undefined;
  const name = isJsonObject(definition) ? definition['name'] : (tool['name'] ?? tool['tool_name']);
  if (typeof name !== 'string') return;
  if (type === 'tool_removal') offered.delete(name);
  if (type !== 'tool_addition') return;
  const added = isJsonObject(definition) ? (definition as MessagesTool) : given.find((each) => each.name === name);
  if (added) offered.set(name, added);
}

/** Names of the tools that results refer to, or that were called. */
function referencesIn(messages: readonly MessagesMessage[]): Set<string> {
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
