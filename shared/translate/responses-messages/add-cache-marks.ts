import { isJsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { createCacheMark, type TranslatedHistory } from '../upstreams/messages/translated-history.ts';

/** Maximum number of cache marks in one request to a `messages` upstream. */
const maxMarks = 4;

/**
 * Number of user turns with a mark. This request reads the cache up to the last turn but one, and the next request reads it up to the last
 * turn.
 */
const markedTurns = 2;

/**
 * Marks the content that the upstream keeps in its prompt cache. Upstreams of the `messages` format cache only marked content; upstreams of
 * the Responses format choose the content themselves. Marks the ends of the system prompt and of the user's last two turns. The client's
 * own `prompt_cache_breakpoint`s are marked already. Adds no marks to a request without a sign that it will be continued (a cache key,
 * tools or an earlier answer), because writing a cache costs more than not caching.
 */
export function addCacheMarks(history: TranslatedHistory, request: ResponsesRequest, hasTools: boolean): void {
  const { mode, ttl } = isJsonObject(request['prompt_cache_options']) ? request['prompt_cache_options'] : {};
  const { prompt_cache_key: key } = request;
  const isNamed = typeof key === 'string' && key !== '';
  const isContinued = isNamed || hasTools || history.messages.some(({ role }) => role === 'assistant');
  if (mode !== 'explicit' && isContinued)
    for (const block of findCacheEnds(history)) block['cache_control'] ??= createCacheMark(ttl);
  const markedBlocks = listBlocks(history).filter((block) => block['cache_control'] !== undefined);
  // The format refuses a longer lifetime after a shorter one, so all marks get the longest lifetime.
  const longestMark = markedBlocks
    .map((block) => block['cache_control'])
    .find((mark) => isJsonObject(mark) && 'ttl' in mark);
  for (const [index, block] of markedBlocks.entries()) {
    if (index < markedBlocks.length - maxMarks) delete block['cache_control'];
    else block['cache_control'] = longestMark ?? createCacheMark(ttl);
  }
}

/** Returns the last block of the system prompt, and the last block of each of the last user turns. */
function findCacheEnds({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.filter(({ role }) => role === 'user').slice(-markedTurns);
  return [system, ...turns.map(toBlocks)].flatMap((blocks) => blocks.at(-1) ?? []);
}

function listBlocks({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return [...system, ...turns].flatMap((block) =>
    block.type === 'tool_result' && Array.isArray(block.content) ? [...block.content, block] : [block],
  );
}

/** Returns the blocks of a message. A string becomes a block in the message, because a string cannot be marked. */
function toBlocks(message: MessagesMessage): MessagesBlock[] {
  const { content } = message;
  if (typeof content !== 'string') return content;
  const blocks: MessagesBlock[] = [{ type: 'text', text: content }];
  message.content = blocks;
  return blocks;
}
