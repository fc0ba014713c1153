import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ContentLists } from '#services/ingress/mcp/content-lists.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** A server that counts its questions, and answers or fails a moment later. */
function createServer(answer: JsonObject | Error) {
  let count = 0;
  const ask = async (): Promise<JsonObject> => {
    count += 1;
    await sleep(10);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { ask, count: () => count };
}

it('a list is requested once for all that need it within a few seconds', async () => {
  const lists = new ContentLists();
  const { ask, count } = createServer({ prompts: [{ name: 'a' }] });
  const get = (key: string) => lists.get('wiki', 'prompts', key, ask);
  const all = await Promise.all([get('one'), get('one'), get('one')]);
  expect(all.flat().map(({ entry }) => entry.name)).toEqual(['a', 'a', 'a']);
  expect(await get('other')).toBe(all[0]);
  expect(count()).toBe(1);
  await lists.get('other', 'prompts', 'one', ask);
  await lists.get('wiki', 'resources', 'one', ask);
  expect(count()).toBe(3);
});

it('a failure counts for its key only, and for a moment', async () => {
  const lists = new ContentLists();
  const failing = createServer(new Error('the key is over its limit'));
  const { ask } = createServer({ prompts: [{ name: 'a' }] });
  const fail = () => expect(lists.get('wiki', 'prompts', 'one', failing.ask)).rejects.toThrow('over its limit');
  await Promise.all([fail(), fail()]);
  await fail();
  expect(failing.count()).toBe(1);
  expect(await lists.get('wiki', 'prompts', 'other', ask)).toHaveLength(1);
  expect(await lists.get('wiki', 'prompts', 'one', failing.ask)).toHaveLength(1);
});
