import { isJsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { createCacheMark } from '../vocabulary/cache-mark.ts';
import type { TranslatedHistory } from './message-turns.ts';

/** Maximum cache marks that a `messages` upstream accepts in one request. */
const maxMarks = 4;

/**
 * Number of user turns with a mark: the next request reads the cache up to the last turn, and this request up to the turn before the last.
 */
const markedTurns = 2;

/**
 * Marks the content that an upstream keeps in its prompt cache, because upstreams of the `messages` format cache only marked content.
 * (Those of the Responses format choose it themselves.) Marks the ends of the system prompt and of the user's last two turns, besides the
 * client's own `prompt_cache_breakpoint`s. A request that shows no sign of being continued (a cache key, tools or an earlier answer) gets
 * no marks, because writing a cache costs more than not caching.
 */
export function addCacheMarks(history: TranslatedHistory, request: ResponsesRequest, hasTools: boolean): void {
  const { mode, ttl } = isJsonObject(request['prompt_cache_options']) ? request['prompt_cache_options'] : {};
  const { prompt_cache_key: key } = request;
  const isNamed = typeof key === 'string' && key !== '';
  const isContinued = isNamed || hasTools || history.messages.some(({ role }) => role === 'assistant');
  if (mode !== 'explicit' && isContinued)
    for (const block of findCacheEnds(history)) block['cache_control'] ??= createCacheMark(ttl);
  const markedBlocks = blocksIn(history).filter((block) => block['cache_control'] !== undefined);
  // The format refuses a longer lifetime after a shorter one, so the longest applies to all marks.
  const longest = markedBlocks
    .map((block) => block['cache_control'])
    .find((mark) => isJsonObject(mark) && 'ttl' in mark);
  for (const [at, block] of markedBlocks.entries()) {
    if (at < markedBlocks.length - maxMarks) delete block['cache_control'];
    else block['cache_control'] = longest ?? createCacheMark(ttl);
  }
}

/** Returns the last block of the system prompt, and of each of the user's last turns. */
function findCacheEnds({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.filter(({ role }) => role === 'user').slice(-markedTurns);
  return [system, ...turns.map(toBlocks)].flatMap((blocks) => blocks.at(-1) ?? []);
}

function blocksIn({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return [...system, ...turns].flatMap((block) =>
    block.type === 'tool_result' && Array.isArray(block.content) ? [...block.content, block] : [block],
  );
}

/** Returns the blocks of a message and makes them its content, because a plain string cannot be marked. */
function toBlocks(message: MessagesMessage): MessagesBlock[] {
  const { content } = message;
  if (typeof content !== 'string') return content;
  const blocks: MessagesBlock[] = [{ type: 'text', text: content }];
  message.content = blocks;
  return blocks;
}
