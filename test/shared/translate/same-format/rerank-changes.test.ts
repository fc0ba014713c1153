import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { translationBetween } from '../translation-between.ts';

const translation = translationBetween('rerank', 'rerank');
const request = { model: 'auto', query: 'q', documents: ['a', 'b', 'c'] };

function answer(asked: JsonObject, body: JsonObject) {
  const recalled = translation.recallFields?.({ ...request, ...asked });
  return translation.translateReply(body, {
    id: 'rerank-1',
    model: 'm',
    created: 1,
    promptTokens: () => 7,
    recalled,
  });
}

const results = [
  { index: 0, relevance_score: 0.1, document: { text: 'a' } },
  { index: 2, relevance_score: 0.9 },
  { index: 1, relevance_score: -3 },
];

it('a rerank request asks the upstream for at most as many results as documents, and not for the documents', () => {
  const asked = { ...request, top_n: 50, return_documents: true, max_chunks_per_doc: 4 };
  const expected = { ...request, model: 'm', top_n: 3, max_chunks_per_doc: 4 };
  expect(translation.translateRequest(asked, { model: 'm' })).toEqual(expected);
});

describe('a ranking', () => {
  it('has the best documents first, and its own id', () => {
    const best = [results[1], { index: 0, relevance_score: 0.1 }, results[2]];
    const usage = { prompt_tokens: 4, total_tokens: 4 };
    const { body } = answer({}, { id: 'x', results, usage: { total_tokens: 4 } });
    expect(body).toEqual({ id: 'rerank-1', object: 'list', model: 'm', results: best, usage });
  });

  it('has the requested number of results, with their documents if requested', () => {
    const { body } = answer({ top_n: 1, return_documents: true }, { results });
    expect(body['results']).toEqual([{ index: 2, relevance_score: 0.9, document: { text: 'c' } }]);
  });

  it.each([
    ['names a document that there is not', [{ index: 3, relevance_score: 1 }]],
    ['names half a document', [{ index: 0.5, relevance_score: 1 }]],
    ['has no score', [{ index: 0 }]],
    ['is none', undefined],
  ])('that %s is an upstream failure', (_, given) => {
    expect(() => answer({}, { ...(given && { results: given }) })).toThrow(errorWith('upstream_failed'));
  });
});
