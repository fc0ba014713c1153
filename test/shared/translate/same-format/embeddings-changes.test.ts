import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { translationBetween } from '../translation-between.ts';

const translation = translationBetween('embeddings', 'embeddings');
const request = { model: 'auto', input: ['a', 'b'], user: 'me' };
const base64 = (...numbers: number[]): string => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

/** Returns the client's answer for an upstream's answer. */
function answer(asked: JsonObject, body: JsonObject) {
  const recalled = translation.recallFields?.({ ...request, ...asked });
  const answerContext = { id: 'embd-1', model: 'm', created: 1, promptTokens: () => 7, recalled };
  return translation.translateReply(body, answerContext);
}

const vectors = {
  data: [
    { index: 0, embedding: [1, 0.5] },
    { index: 1, embedding: [0, -2] },
  ],
};

it('an embeddings request passes to the upstream with its model name, without the number of the first vector', () => {
  const asked = { ...request, encoding_format: 'base64', task: 'query' };
  const sent = translation.translateRequest({ ...asked, first_index: 3 }, { model: 'm' });
  expect(sent).toEqual({ ...asked, model: 'm' });
});

describe('an answer with embeddings', () => {
  it('has the vectors in the order of the inputs', () => {
    const { data } = answer({}, { data: vectors.data.toReversed() }).body as { data: object[] };
    expect(data).toEqual(vectors.data.map((vector) => ({ object: 'embedding', ...vector })));
  });

  it('has continued numbers for a part of a request', () => {
    const { data } = answer({ first_index: 40 }, vectors).body as { data: { index: number }[] };
    expect(data.map(({ index }) => index)).toEqual([40, 41]);
  });

  it.each([
    ['numbers from numbers', {}, [1, 0.5], [1, 0.5]],
    ['numbers from base64', { encoding_format: 'float' }, base64(1, 0.5), [1, 0.5]],
    ['base64 from numbers', { encoding_format: 'base64' }, [1, 0.5], base64(1, 0.5)],
    ['base64 from base64', { encoding_format: 'base64' }, base64(1, 0.5), base64(1, 0.5)],
  ])('has %s', (_, asked, embedding, expected) => {
    const { data } = answer({ input: 'a', ...asked }, { data: [{ embedding }] }).body as { data: JsonObject[] };
    expect(data[0]?.['embedding']).toEqual(expected);
  });

  it.each([
    ['the upstream’s count', { prompt_tokens: 4, total_tokens: 4 }, 4],
    ['the only count that it has', { total_tokens: 5 }, 5],
    ['an estimate', undefined, 7],
  ])('counts tokens with %s', (_, usage, tokens) => {
    const { body, ending } = answer({}, { ...vectors, ...(usage && { usage }) });
    expect(body['usage']).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(ending.usage).toMatchObject({ promptTokens: tokens, completionTokens: 0 });
  });

  it.each([
    ['as many as the upstream has found in its cache', 3, 3],
    ['not more than it has', 9, 4],
  ])('counts as cached tokens %s', (_, cached_tokens, cachedTokens) => {
    const usage = { prompt_tokens: 4, total_tokens: 4, prompt_tokens_details: { cached_tokens } };
    expect(answer({}, { ...vectors, usage }).ending.usage).toMatchObject({ promptTokens: 4, cachedTokens });
  });

  it.each([
    ['has one vector too few', { data: vectors.data.slice(1) }],
    ['has one too many', { data: [...vectors.data, { index: 2, embedding: [1] }] }],
    ['has two of one input', { data: [vectors.data[0], vectors.data[0]] as JsonObject[] }],
    ['has a vector of words', { data: [{ embedding: ['x'] }, { embedding: ['y'] }] }],
    ['has a base64 that is cut', { data: [{ embedding: 'AAA=' }, { embedding: 'AAA=' }] }],
    ['has no vectors', { object: 'list' }],
  ])('that %s is an upstream failure', (_, body) => {
    expect(() => answer({}, body)).toThrow(errorWith('upstream_failed'));
  });

  it('is refused if it does not have the requested dimensions', () => {
    const refused = errorWith('unsupported_parameter', { param: 'dimensions' });
    expect(() => answer({ dimensions: 3 }, vectors)).toThrow(refused);
    expect(answer({ dimensions: 2 }, vectors).body).toMatchObject({ object: 'list' });
  });

  it('is an error if the upstream sent one under status 200', () => {
    const failed = { error: { message: 'no', code: 400 } };
    expect(() => answer({}, failed)).toThrow(errorWith('invalid_request', { message: 'no' }));
  });
});
