import { isJsonObject } from '#shared/core/json.ts';
import type { MessagesBlock, MessagesMessage } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { cacheMark } from '../vocabulary/cache-mark.ts';
import type { TranslatedHistory } from './message-turns.ts';

/** Marks that a messages upstream accepts in one request. */
const mostMarks = 4;

/** Turns of the user with a mark: the last, up to which the next request reads, and the one before, up to which this one does. */
const markedTurns = 2;

/**
 * Marks what an upstream keeps in its prompt cache. Upstreams of the Responses format choose that themselves, those of the messages
 * format cache only what is marked: the end of the system prompt and of the user's last two turns, beside the client's own
 * `prompt_cache_breakpoint`s. A request that nothing suggests will be continued gets no marks, because it costs more to write a
 * cache than not to: one without a key for the cache, without tools and without an earlier answer.
 */
export function markCached(history: TranslatedHistory, request: ResponsesRequest, hasTools: boolean): void {
  const { mode, ttl } = isJsonObject(request['prompt_cache_options']) ? request['prompt_cache_options'] : {};
  const { prompt_cache_key: key } = request;
  const isNamed = typeof key === 'string' && key !== '';
  const isContinued = isNamed || hasTools || history.messages.some(({ role }) => role === 'assistant');
  if (mode !== 'explicit' && isContinued)
    for (const block of endsIn(history)) block['cache_control'] ??= cacheMark(ttl);
  const marked = blocksIn(history).filter((block) => block['cache_control'] !== undefined);
  // The format refuses a longer time after a shorter one, so the longest counts for all.
  const longest = marked.map((block) => block['cache_control']).find((mark) => isJsonObject(mark) && 'ttl' in mark);
  for (const [at, block] of marked.entries()) {
    if (at < marked.length - mostMarks) delete block['cache_control'];
    else block['cache_control'] = longest ?? cacheMark(ttl);
  }
}

/** The last block of the system prompt, and of the last turns of the user. */
function endsIn({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.filter(({ role }) => role === 'user').slice(-markedTurns);
  return [system, ...turns.map(blocksOf)].flatMap((blocks) => blocks.at(-1) ?? []);
}

function blocksIn({ system, messages }: TranslatedHistory): MessagesBlock[] {
  const turns = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return [...system, ...turns].flatMap((block) =>
    block.type === 'tool_result' && Array.isArray(block.content) ? [...block.content, block] : [block],
  );
}

/** The blocks of a message, which become its content: a text alone cannot be marked. */
function blocksOf(message: MessagesMessage): MessagesBlock[] {
  const { content } = message;
  if (typeof content !== 'string') return content;
  const blocks: MessagesBlock[] = [{ type: 'text', text: content }];
  message.content = blocks;
  return blocks;
}
