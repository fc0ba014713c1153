import { describe, expect, it } from 'vitest';
import type { Json } from '#shared/core/json.ts';
import { readAnswerBeginning, removeBeginning } from '#services/gpu-worker/requests/answer-beginning.ts';

const user = { role: 'user', content: 'Hello' };

/** Returns the content of a whole answer to a request that has begun one. */
function rest(begun: Json, content: string): Json | undefined {
  const found = readAnswerBeginning({ messages: [user, { role: 'assistant', content: begun }] });
  const answer = { choices: [{ index: 0, message: { content } }], usage: {} };
  const { choices } = found ? removeBeginning(answer, found) : answer;
  return (choices as { message: { content: Json } }[])[0]?.message.content;
}

describe('the beginning of an answer that an engine repeats', () => {
  it('is removed', () => {
    expect(rest('Once upon', 'Once upon a time')).toBe(' a time');
    expect(rest('{"a":\n', '{"a":\n1}')).toBe('1}');
    expect(rest('Once', 'Once')).toBe('');
  });

  it('is removed where line breaks stand between its parts', () => {
    const parts = ['Once', ' upon'].map((text) => ({ type: 'text', text }));
    for (const answer of ['Once upon a', 'Once\n upon a', 'Once\n\n upon a']) expect(rest(parts, answer)).toBe(' a');
  });

  it('changes nothing of an answer that does not repeat it', () => {
    expect(rest('Once upon', 'Once more')).toBe('Once more');
    expect(rest('Once upon', ' a time')).toBe(' a time');
    expect(rest('', 'a')).toBe('a');
    expect(readAnswerBeginning({ messages: [user] })).toBeUndefined();
  });

  it('is removed from its thinking too', () => {
    const messages = [{ role: 'assistant', content: '', reasoning_content: 'So' }];
    const answer = { choices: [{ message: { content: 'a', reasoning_content: 'So it is' } }] };
    expect(
      removeBeginning(answer, readAnswerBeginning({ messages }) ?? { content: [], reasoning_content: [] }),
    ).toEqual({
      choices: [{ message: { content: 'a', reasoning_content: ' it is' } }],
    });
  });
});
