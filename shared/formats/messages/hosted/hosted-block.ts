import type { HostedResultBlock, MessagesBlock, MessagesMessage } from '../request.ts';
import { isOwnCallId, decodeResultText } from './result-citations.ts';
import { isJsonObject, toTextOrEmpty, type JsonObject } from '#shared/core/json.ts';
import { writeResultsText, type SearchResult } from '../../hosted/hosted-outcome.ts';

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

/**
 * Whether a web address occurs in a text that the model did not write: a text of the user, or the result of a client's tool, a search or a
 * fetch (Anthropic API reference, "Web fetch tool"). A model that chooses addresses freely could be tricked into leaking what it has read.
 */
export function isAddressNamed(messages: readonly MessagesMessage[], url: string): boolean {
  const urlInJson = JSON.stringify(url).slice(1, -1);
  return messages.some(({ role, content }) => {
    if (role !== 'assistant') return JSON.stringify(content).includes(urlInJson);
    return (
      typeof content !== 'string' &&
      content.some((block) => isHostedResult(block) && readHostedResultText(block).includes(url))
    );
  });
}

/**
 * Returns the text of a hosted call's result, as the model read it, from the block that the client sends back. Search results of another
 * upstream are without the text of their pages, because only that upstream can decrypt it.
 */
export function readHostedResultText({ content }: HostedResultBlock): string {
  if (Array.isArray(content))
    return writeResultsText(content.flatMap((result) => (isJsonObject(result) ? toSearchResult(result) : [])));
  if (!isJsonObject(content)) return '';
  const { error_code: code, url, content: document } = content;
  if (typeof code === 'string') return `Error: ${code}`;
  const source = isJsonObject(document) ? document['source'] : undefined;
  const text = isJsonObject(source) && source['type'] === 'text' ? toTextOrEmpty(source['data']) : '';
  return text === '' ? toTextOrEmpty(url) : text;
}

function toSearchResult({ title, url, page_age: age, encrypted_content: sealed }: JsonObject): SearchResult[] {
  return [
    {
      title: toTextOrEmpty(title),
      url: toTextOrEmpty(url),
      text: decodeResultText(toTextOrEmpty(sealed)) ?? '',
      age: toTextOrEmpty(age) || undefined,
    },
  ];
}
