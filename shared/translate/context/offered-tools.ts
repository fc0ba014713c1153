import { isJsonObject } from '#shared/core/json.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
  MessagesTool,
  ToolChangeBlock,
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
  let offered = given.filter((tool) => !isSearchTool(tool) && (!isDeferred(tool) || named.has(tool.name)));
  for (const { role, content } of messages) {
    if (role !== 'system' || typeof content === 'string') continue;
    for (const block of content) if (isToolChange(block)) offered = changed(offered, given, block);
  }
  return offered;
}

/** What a model without tool search reads instead of a reference to a tool. */
export function referenceText({ tool_name: name }: ToolReferenceBlock): string {
  return `The tool ${name} can be called now.`;
}

/** Whether a block of a system message only changes the tools, and so has no text. */
export function isToolChange(block: MessagesBlock): block is ToolChangeBlock {
  return block.type === 'tool_addition' || block.type === 'tool_removal';
}

function isSearchTool({ type }: MessagesTool): boolean {
  return typeof type === 'string' && searchTool.test(type);
}

/** The tools after an addition or a removal. */
function changed(
  offered: MessagesTool[],
  given: readonly MessagesTool[],
  { type, tool }: ToolChangeBlock,
): MessagesTool[] {
  const definition = tool['type'] === 'tool_definition' ? tool['definition'] : undefined;
  const name = isJsonObject(definition) ? definition['name'] : (tool['name'] ?? tool['tool_name']);
  const others = offered.filter((each) => each.name !== name);
  if (type === 'tool_removal') return others;
  const added = isJsonObject(definition) ? (definition as MessagesTool) : given.find((each) => each.name === name);
  return added ? [...others, added] : offered;
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
