import type {
  CompactionBlock,
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
} from '#shared/formats/messages/request.ts';

/**
 * Replaces `compaction` blocks in a request, for an upstream that does not read them (Anthropic API guide, "Compaction"). The newest block
 * replaces everything before it. The block's summary becomes a text of the user, and the block's changes of tools become a system message.
 * A block without a summary comes from a failed compaction and changes nothing.
 */
export function expandSummary(request: MessagesRequest): MessagesRequest {
  const { messages } = request;
  if (!messages.some(({ content }) => toBlocks(content).some(isCompaction))) return request;
  const newestIndex = messages.findLastIndex(({ content }) => toBlocks(content).some(hasSummary));
  const kept = messages.slice(newestIndex + 1).flatMap(removeCompactions);
  const [opening, next] = newestIndex === -1 ? [] : [messages[newestIndex], kept[0]];
  if (!opening) return { ...request, messages: kept };
  const [replacements, rest] = splitAtSummary(opening);
  // Many chat templates refuse two consecutive user turns.
  if (rest || next?.role !== 'user')
    return { ...request, messages: [...replacements, ...(rest ? [rest] : []), ...kept] };
  const summary = replacements.pop();
  const joinedBlocks = [...toBlocks(summary?.content ?? []), ...toBlocks(next.content)];
  return {
    ...request,
    messages: [...replacements, { ...next, content: moveResultsFirst(joinedBlocks) }, ...kept.slice(1)],
  };
}

/**
 * Splits a message at its newest summary.
 * @returns the messages that replace the summary (the changes of tools, and the text), and the rest of an assistant's turn
 */
function splitAtSummary({ role, content }: MessagesMessage): [MessagesMessage[], MessagesMessage | undefined] {
  const blocks = toBlocks(content);
  const index = blocks.findLastIndex(hasSummary);
  const block = blocks[index] as CompactionBlock | undefined;
  const changes = block?.tool_changes ?? [];
  const text: MessagesBlock = { type: 'text', text: writeSummaryText(block?.content ?? '') };
  const rest = blocks.slice(index + 1).filter((each) => !isCompaction(each));
  const isUser = role === 'user';
  const summaryMessage: MessagesMessage = {
    role: 'user',
    content: isUser ? moveResultsFirst([text, ...rest]) : [text],
  };
  return [
    changes.length > 0 ? [{ role: 'system', content: changes }, summaryMessage] : [summaryMessage],
    isUser || rest.length === 0 ? undefined : { role, content: rest },
  ];
}

/** Moves tool results to the front, because they must come first in a user turn. */
function moveResultsFirst(blocks: MessagesBlock[]): MessagesBlock[] {
  return blocks.toSorted((a, b) => Number(b.type === 'tool_result') - Number(a.type === 'tool_result'));
}

function removeCompactions(message: MessagesMessage): MessagesMessage[] {
  if (typeof message.content === 'string' || !message.content.some(isCompaction)) return [message];
  const content = message.content.filter((block) => !isCompaction(block));
  return content.length === 0 ? [] : [{ ...message, content }];
}

function toBlocks(content: string | readonly MessagesBlock[]): readonly MessagesBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function isCompaction(block: MessagesBlock): block is CompactionBlock {
  return block.type === 'compaction';
}

function hasSummary(block: MessagesBlock): boolean {
  return isCompaction(block) && typeof block.content === 'string' && block.content !== '';
}

/** The text before a summary in a continued conversation. */
const introduction = 'Summary of the conversation before this message:\n\n';

/** Writes the user message that replaces a summarized conversation. */
export function writeSummaryText(summary: string): string {
  return introduction + summary;
}
