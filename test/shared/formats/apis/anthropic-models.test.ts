import { describe, expect, it } from 'vitest';
import { createModelPage } from '#shared/formats/apis/anthropic-models.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const cards = ['a', 'b', 'c', 'd', 'e'].map((id) => ({
  id,
  created: 1_700_000_000,
  ownedBy: 'x',
  tiers: ['gpu'],
  operations: ['generate' as const],
  capabilities: [],
  contextWindow: 8,
}));

function ids(query: Record<string, string>): { ids: string[]; more: boolean } {
  const page = createModelPage(cards, query);
  expect(page.first_id).toBe(page.data[0]?.id ?? null);
  expect(page.last_id).toBe(page.data.at(-1)?.id ?? null);
  return { ids: page.data.map(({ id }) => id), more: page.has_more };
}

describe('a page of models', () => {
  it('has the shape that messages clients read', () => {
    expect(createModelPage(cards, { limit: '1' }).data[0]).toMatchObject({
      type: 'model',
      id: 'a',
      created_at: '2023-11-14T22:13:20.000Z',
      max_input_tokens: 8,
      max_tokens: null,
    });
  });

  it.each([
    [{}, ['a', 'b', 'c', 'd', 'e'], false],
    [{ limit: '2' }, ['a', 'b'], true],
    [{ limit: '2', after_id: 'b' }, ['c', 'd'], true],
    [{ limit: '2', after_id: 'd' }, ['e'], false],
    [{ after_id: 'e' }, [], false],
    [{ limit: '2', before_id: 'd' }, ['b', 'c'], true],
    [{ limit: '5', before_id: 'c' }, ['a', 'b'], false],
  ])('has for the query %j the content %j', (query, expected, more) => {
    expect(ids(query)).toEqual({ ids: expected, more });
  });

  it.each([
    { limit: '0' },
    { limit: '1001' },
    { limit: 'x' },
    { after_id: 'nobody' },
    { after_id: 'a', before_id: 'b' },
  ])('is refused for the query %j', (query) => {
    expect(() => createModelPage(cards, query)).toThrow(errorWith('invalid_request'));
  });
});
