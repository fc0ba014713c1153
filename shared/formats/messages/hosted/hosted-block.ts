import type { HostedResultBlock, MessagesBlock } from '../request.ts';
import { readHostedResultText } from './hosted-result-text.ts';
import { isOwnCallId } from './result-text-encoding.ts';

/** Whether a `server_tool_use` block with this name calls a tool that the router may run. */
export function isHostedName(name: string): boolean {
  return name === 'web_search' || name === 'web_fetch';
}

export function isHostedResult(block: MessagesBlock): block is HostedResultBlock {
  return block.type === 'web_search_tool_result' || block.type === 'web_fetch_tool_result';
}

/** Whether a block is a call that the router has run, or its result. An upstream refuses blocks that it has not written. */
export function isOwnHostedBlock(block: MessagesBlock): boolean {
  return block.type === 'server_tool_use'
    ? isOwnCallId(block.id)
    : isHostedResult(block) && isOwnCallId(block.tool_use_id);
}

/** Converts a hosted call or its result to text, for upstreams without such blocks. Returns undefined for any other block. */
export function writeHostedBlockText(block: MessagesBlock): string | undefined {
  if (isHostedResult(block)) return `[Result of the tool]\n${readHostedResultText(block)}`;
  if (block.type !== 'server_tool_use' || !isHostedName(block.name)) return undefined;
  return `[Call of the tool ${block.name}: ${JSON.stringify(block.input)}]`;
}
