import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { responsesToMessagesRequest } from '#shared/translate/responses-messages/responses-to-messages.ts';

const said = (role: string, text: string, mark?: JsonObject): JsonObject => {
  return { role, content: [{ type: 'input_text', text, ...(mark && { prompt_cache_breakpoint: mark }) }] };
};

/** Returns the marked texts of the translated request in order, each with its mark. */
function marks(fields: JsonObject): [Json | undefined, Json | undefined][] {
  const found: [Json | undefined, Json | undefined][] = [];
  const visit = (value: Json | undefined): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isJsonObject(value)) return;
    if (value['cache_control'] !== undefined)
      found.push([value['text'] ?? value['tool_use_id'], value['cache_control']]);
    Object.values(value).forEach(visit);
  };
  visit(responsesToMessagesRequest({ model: 'm', ...fields }, { model: 'up' }));
  return found;
}

const mark = { type: 'ephemeral' };
const tools = [{ type: 'function', name: 'f' }];
const conversation = [
  said('user', 'one'),
  said('assistant', 'two'),
  said('user', 'three'),
  { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'a', output: 'four' },
];

describe('the cache marks of a request to a messages upstream', () => {
  it("are at the ends of the system prompt and of the user's last two turns", () => {
    expect(marks({ instructions: 'I', input: conversation })).toEqual(['I', 'three', 'a'].map((text) => [text, mark]));
  });

  it.each([
    ['has a key for the cache', { prompt_cache_key: 'k' }, 1],
    ['has tools', { tools }, 1],
    ['is a question without either', {}, 0],
    ['has an empty key', { prompt_cache_key: '' }, 0],
  ])('are set if the request %s', (_, fields, count) => {
    expect(marks({ input: 'hi', ...fields })).toHaveLength(count);
  });

  it('are only those of the client in explicit mode', () => {
    const input = [said('user', 'one', { mode: 'explicit' }), ...conversation];
    expect(marks({ input, prompt_cache_options: { mode: 'explicit' } })).toEqual([['one', mark]]);
  });

  it('are the last four if the request has more', () => {
    const input = ['a', 'b', 'c', 'd'].map((text) => said('user', text, { mode: 'explicit' }));
    expect(marks({ input: [...input, ...conversation] }).map(([text]) => text)).toEqual(['c', 'd', 'three', 'a']);
  });

  it('last for an hour if the client sets a lifetime', () => {
    const long = { type: 'ephemeral', ttl: '1h' };
    const asked = { mode: 'explicit', ttl: '12h' };
    for (const fields of [
      { input: [said('user', 'zero', asked), ...conversation] },
      { input: [...conversation, said('user', 'five', asked)] },
      { input: conversation, prompt_cache_options: { ttl: '30m' } },
    ]) {
      const found = marks(fields);
      expect(found.length).toBeGreaterThan(1);
      for (const [, given] of found) expect(given).toEqual(long);
    }
  });

  it('are not inside an assistant turn or on thinking', () => {
    expect(marks({ input: [said('user', 'one'), said('assistant', 'two')] })).toEqual([['one', mark]]);
  });

  it('let an upstream read everything that earlier requests have cached, even after many calls at once', () => {
    const cache = new Set<string>();
    const input: JsonObject[] = [said('user', 'begin')];
    let written = 0;
    for (const calls of [1, 30, 2, 45, 1]) {
      const request = { model: 'm', instructions: 'I', tools, input };
      const read = readFromCache(responsesToMessagesRequest(request, { model: 'up' }), cache);
      expect(read).toBe(written);
      written = blocksOf(responsesToMessagesRequest(request, { model: 'up' })).length;
      const ids = Array.from({ length: calls }, (_, at) => `${input.length}-${at}`);
      for (const id of ids) input.push({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
      for (const id of ids) input.push({ type: 'function_call_output', call_id: id, output: `result ${id}` });
    }
  });
});

/** Returns the blocks of a request to a messages upstream, in the order of the cache. */
function blocksOf({ system, messages }: JsonObject): JsonObject[] {
  const contents = [system, ...(messages as JsonObject[]).map(({ content }) => content)];
  return contents.flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content as JsonObject[]),
  );
}

/** Number of blocks before a mark that an upstream compares with its cache (Anthropic's guide, "Prompt caching"). */
const lookback = 20;

/** Processes a request as an upstream's cache does, and returns the number of blocks that it has read. */
function readFromCache(request: JsonObject, cache: Set<string>): number {
  const blocks = blocksOf(request);
  const plain = blocks.map((block) => ({ ...block, cache_control: undefined }));
  const prefix = (length: number): string => JSON.stringify(plain.slice(0, length));
  const marked = blocks.flatMap((block, at) => (block['cache_control'] === undefined ? [] : [at + 1]));
  const searched = marked.flatMap((end) => Array.from({ length: lookback }, (_, back) => end - back));
  const read = Math.max(0, ...searched.filter((length) => length > 0 && cache.has(prefix(length))));
  for (const end of marked) cache.add(prefix(end));
  return read;
}
