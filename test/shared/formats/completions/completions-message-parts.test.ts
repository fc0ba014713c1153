import { describe, expect, it } from 'vitest';
import { completionsMessageParts } from '#shared/formats/completions/message-parts.ts';
import { readEvents } from '#shared/formats/message-parts.ts';

const said = (content: string) => ({ role: 'user', parts: [{ type: 'text', content }] });

describe('the messages of completions', () => {
  it.each([
    ['Once', [said('Once')]],
    [
      ['Once', 'Twice'],
      [said('Once'), said('Twice')],
    ],
    [[1, 2, 3], []],
    [[[1], [2]], []],
    [undefined, []],
  ])('are the prompts that are text: %j', (prompt, messages) => {
    expect(completionsMessageParts.request({ prompt })).toEqual({ instructions: [], messages });
  });

  it('are the texts of an answer', () => {
    const choices = [{ index: 0, text: ' upon a time', finish_reason: 'length' }];
    expect(completionsMessageParts.answer({ choices })).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: ' upon a time' }], finish_reason: 'length' },
    ]);
    expect(completionsMessageParts.answer({ choices: [null, { text: 1 }] })).toEqual([]);
  });

  it('are joined of the chunks of a stream, for each choice', () => {
    const chunks = [
      { choices: [{ index: 0, text: 'a', finish_reason: null }] },
      { choices: [{ index: 1, text: 'x', finish_reason: null }] },
      { choices: [{ index: 0, text: 'b', finish_reason: 'stop' }] },
    ];
    const stream = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
    expect(completionsMessageParts.answer(completionsMessageParts.joined(readEvents(stream)))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'ab' }], finish_reason: 'stop' },
      { role: 'assistant', parts: [{ type: 'text', content: 'x' }], finish_reason: 'error' },
    ]);
  });
});
