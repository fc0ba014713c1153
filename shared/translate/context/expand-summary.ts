import type {
  CompactionBlock,
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
} from '#shared/formats/messages/request.ts';
import { summaryText } from '../vocabulary/summary-text.ts';

/**
 * Converts a request for an upstream that does not read `compaction` blocks (Anthropic API guide, "Compaction"). The newest block replaces
 * everything before it. The block's summary becomes a text of the user, and the block's changes of tools become a system message. A block
 * without a summary comes from a failed compaction and changes nothing.
 */
export function expandSummary(request: MessagesRequest): MessagesRequest {
  const { messages } = request;
  if (!messages.some(({ content }) => blocksOf(content).some(isCompaction))) return request;
  const newest = messages.findLastIndex(({ content }) => blocksOf(content).some(hasSummary));
  const kept = messages.slice(newest + 1).flatMap(withoutCompactions);
  const [opening, next] = newest === -1 ? [] : [messages[newest], kept[0]];
  if (!opening) return { ...request, messages: kept };
  const [before, rest] = splitAtSummary(opening);
  // Many chat templates refuse two consecutive user turns.
  if (rest || next?.role !== 'user') return { ...request, messages: [...before, ...(rest ? [rest] : []), ...kept] };
  const summary = before.pop();
  const joined = [...blocksOf(summary?.content ?? []), ...blocksOf(next.content)];
  return { ...request, messages: [...before, { ...next, content: resultsFirst(joined) }, ...kept.slice(1)] };
}

/**
 * Returns the messages that replace the newest summary in a message: the changes of tools, and the text. The second element is the rest of
 * an assistant's turn.
 */
function splitAtSummary({ role, content }: MessagesMessage): [MessagesMessage[], MessagesMessage | undefined] {
  const blocks = blocksOf(content);
  const at = blocks.findLastIndex(hasSummary);
  const block = blocks[at] as CompactionBlock | undefined;
  const changes = block?.tool_changes ?? [];
  const text: MessagesBlock = { type: 'text', text: summaryText(block?.content ?? '') };
  const rest = blocks.slice(at + 1).filter((each) => !isCompaction(each));
  const isUser = role === 'user';
  const summaryMessage: MessagesMessage = { role: 'user', content: isUser ? resultsFirst([text, ...rest]) : [text] };
  return [
    changes.length > 0 ? [{ role: 'system', content: changes }, summaryMessage] : [summaryMessage],
    isUser || rest.length === 0 ? undefined : { role, content: rest },
  ];
}

/** Moves tool results to the front, because they have to precede all other content of a user turn. */
function resultsFirst(blocks: MessagesBlock[]): MessagesBlock[] {
  return blocks.toSorted((a, b) => Number(b.type === 'tool_result') - Number(a.type === 'tool_result'));
}

function withoutCompactions(message: MessagesMessage): MessagesMessage[] {
  if (typeof message.content === 'string' || !message.content.some(isCompaction)) return [message];
  const content = message.content.filter((block) => !isCompaction(block));
  return content.length === 0 ? [] : [{ ...message, content }];
}

function blocksOf(content: string | readonly MessagesBlock[]): readonly MessagesBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function isCompaction(block: MessagesBlock): block is CompactionBlock {
  return block.type === 'compaction';
}

function hasSummary(block: MessagesBlock): boolean {
  return isCompaction(block) && typeof block.content === 'string' && block.content !== '';
}
