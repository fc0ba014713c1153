import { isJsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { cacheMark } from '../vocabulary/cache-mark.ts';
import type { TranslatedHistory } from './message-turns.ts';

/** Maximum cache marks that a `messages` upstream accepts in one request. */
const maxMarks = 4;

/**
 * Number of user turns with a mark. Up to the last turn, the next request reads the cache. Up to the turn before it, this request reads the
 * cache.
 */
const markedTurns = 2;

/**
 * Marks the content that an upstream keeps in its prompt cache. Upstreams of the Responses format choose this content themselves; those of
 * the `messages` format cache only marked content. Marks the ends of the system prompt and of the user's last two turns, besides the
 * client's own `prompt_cache_breakpoint`s. A request without signs of a continuation (a cache key, tools or an earlier answer) gets no
 * marks, because writing a cache costs more than not caching.
 */
export function markCached(history: TranslatedHistory, request: ResponsesRequest, hasTools: boolean): void {
  const { mode, ttl } = isJsonObject(request['prompt_cache_options']) ? request['prompt_cache_options'] : {};
  const { prompt_cache_key: key } = request;
  const isNamed = typeof key === 'string' && key !== '';
  const isContinued = isNamed || hasTools || history.messages.some(({ role }) => role === 'assistant');
  if (mode !== 'explicit' && isContinued)
    for (const block of cacheEnds(history)) block['cache_control'] ??= cacheMark(ttl);
  const marked = blocksIn(history).filter((block) => block['cache_control'] !== undefined);
  // The format refuses a longer lifetime after a shorter one, so the longest applies to all marks.
  const longest = marked.map((block) => block['cache_control']).find((mark) => isJsonObject(mark) && 'ttl' in mark);
  for (const [at, block] of marked.entries()) {
    if (at < marked.length - maxMarks) delete block['cache_control'];
    else block['cache_control'] = longest ?? cacheMark(ttl);
  }
}

/** Returns the last block of the system prompt, and of each of the user's last turns. */
function cacheEnds({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.filter(({ role }) => role === 'user').slice(-markedTurns);
  return [system, ...turns.map(blocksOf)].flatMap((blocks) => blocks.at(-1) ?? []);
}

function blocksIn({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return [...system, ...turns].flatMap((block) =>
    block.type === 'tool_result' && Array.isArray(block.content) ? [...block.content, block] : [block],
  );
}

/** Returns the blocks of a message and makes them its content, because a plain string cannot be marked. */
function blocksOf(message: MessagesMessage): MessagesBlock[] {
  const { content } = message;
  if (typeof content !== 'string') return content;
  const blocks: MessagesBlock[] = [{ type: 'text', text: content }];
  message.content = blocks;
  return blocks;
}
