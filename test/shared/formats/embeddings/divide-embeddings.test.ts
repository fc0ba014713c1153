import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { embeddingsFormat } from '#shared/formats/embeddings/embeddings-format.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { translationBetween } from '../../translate/translation-between.ts';

const translation = translationBetween('embeddings', 'embeddings');
const usage = { ...noUsage, promptTokens: 9 };

function divide(body: JsonObject) {
  return embeddingsFormat.read(Buffer.from(JSON.stringify({ model: 'm', ...body })), 'embed').divisible;
}

/** Returns a worker's answer to a part: each input is a number, and its vector has only that number. */
function serve(part: Buffer): Buffer {
  const body = JSON.parse(part.toString()) as JsonObject & { input: string[] };
  const data = body.input.map((text, index) => ({ index, embedding: [Number(text)] }));
  const recalled = translation.recallFields?.(body);
  const { body: answer } = translation.translateReply({ data }, { id: '', model: 'm', created: 1, recalled });
  return Buffer.from(JSON.stringify(answer));
}

describe('a request for embeddings', () => {
  it('is divided, and the answers to its parts are joined to the answer of an undivided request', () => {
    const input = ['0', '1', '2', '3', '4', '5', '6'];
    const divisible = divide({ input });
    const parts = [0, 3, 6].map((from) => divisible?.part({}, from, Math.min(from + 3, 7)) ?? Buffer.alloc(0));
    const joined: unknown = JSON.parse(divisible?.join(parts.map(serve), usage).toString() ?? '');
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [Number(text)] }));
    expect(joined).toEqual({ object: 'list', data, model: 'm', usage: { prompt_tokens: 9, total_tokens: 9 } });
  });

  it('passes its other fields to each part, and the defaults that it lacks', () => {
    const part = divide({ input: ['0', '1'], dimensions: 5, user: 'me' })?.part({ user: 'you', task: 'query' }, 1, 2);
    const fields = { dimensions: 5, user: 'me', task: 'query', first_index: 1 };
    expect(JSON.parse(part?.toString() ?? '')).toEqual({ model: 'm', input: ['1'], ...fields });
  });

  it('is refused with the field that numbers the vectors of a part', () => {
    expect(() => divide({ input: 'one', first_index: 5 })).toThrow(
      errorWith('unsupported_parameter', { param: 'first_index' }),
    );
  });

  it.each([
    ['a text', 'one', undefined],
    ['one text in a list', ['one'], undefined],
    ['the tokens of a text', [1, 2, 3], undefined],
    ['texts', ['one', 'two'], 2],
    ['lists of tokens', [[1], [2], [3]], 3],
  ])('with %s can be divided into so many inputs: %o %o', (_, input, inputs) => {
    expect(divide({ input })?.inputs).toBe(inputs);
  });

  it('is not joined from an invalid answer', () => {
    const divisible = divide({ input: ['0', '1'] });
    for (const answer of ['', '{}', '{"object":"list","data":[', '{"error":1}'])
      expect(() => divisible?.join([Buffer.from(answer)], usage)).toThrow(errorWith('upstream_failed'));
  });
});
