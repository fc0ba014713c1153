import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { completionsToCompletions } from '#shared/translate/same-format/completions-to-completions.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const answerContext = { id: 'cmpl-1', model: 'm', created: 5, promptTokens: () => 7 };
const own = { id: 'cmpl-1', object: 'text_completion', created: 5, model: 'm' };

function chunk(choices: JsonObject[], further: JsonObject = {}): string {
  return JSON.stringify({ id: 'x', object: 'text_completion', created: 1, model: 'theirs', choices, ...further });
}

/** Returns the client's events for these upstream events, without `[DONE]`. */
function stream(events: string[]): JsonObject[] {
  const translation = completionsToCompletions.createStream(answerContext);
  const text = [...events.map((event) => translation.translateEvent(event)), translation.translateEnd().text].join('');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  return text
    .split('\n\n')
    .filter((event) => event !== '' && event !== 'data: [DONE]')
    .map((event) => JSON.parse(event.slice('data: '.length)) as JsonObject);
}

it('a text completion request passes to the upstream, and a stream requests its usage', () => {
  const asked = { model: 'auto', prompt: 'a', suffix: 'b', top_k: 3 };
  expect(completionsToCompletions.translateRequest(asked, { model: 'm' })).toEqual({ ...asked, model: 'm' });
  const streamed = { ...asked, stream: true, stream_options: { chunk: 1 } };
  expect(completionsToCompletions.translateRequest(streamed, { model: 'm' })).toMatchObject({
    stream_options: { chunk: 1, include_usage: true },
  });
});

describe('a text completion', () => {
  it("has the router's id, model and time, and a finish reason of the format", () => {
    const choices = [
      { text: 'b', finish_reason: 'eos' },
      { text: 'c', index: 1, finish_reason: 'length' },
    ];
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    const answer = { id: 'x', choices, usage, system_fingerprint: 'f' };
    const { body, ending } = completionsToCompletions.translateReply(answer, answerContext);
    expect(body).toEqual({
      ...own,
      system_fingerprint: 'f',
      choices: [
        { text: 'b', index: 0, logprobs: null, finish_reason: 'stop' },
        { text: 'c', index: 1, logprobs: null, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
    expect(ending).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 1, completionTokens: 2 } });
  });

  it('that the upstream did not send is an upstream failure', () => {
    for (const choices of [undefined, [], [{ index: 0 }]]) {
      const body = { ...(choices && { choices }) };
      expect(() => completionsToCompletions.translateReply(body, answerContext)).toThrow(errorWith('upstream_failed'));
    }
  });
});

describe('the log probabilities of a text completion', () => {
  const ofChat = (...tokens: string[]) => ({
    content: tokens.map((token) => ({ token, logprob: -1, bytes: [], top_logprobs: [{ token: 'x', logprob: -2 }] })),
  });
  const ofText = (tokens: string[], text_offset: number[]) => ({
    tokens,
    token_logprobs: tokens.map(() => -1),
    top_logprobs: tokens.map(() => ({ x: -2 })),
    text_offset,
  });

  it('have the completions form even if the upstream sends the chat form, with offsets across a stream', () => {
    const choice = { text: 'ab c', finish_reason: 'stop', logprobs: ofChat('ab', ' c') };
    const { body } = completionsToCompletions.translateReply({ choices: [choice] }, answerContext);
    expect(body['choices']).toMatchObject([{ logprobs: ofText(['ab', ' c'], [0, 2]) }]);
    const chunks = stream([
      chunk([{ text: 'ab', index: 0, logprobs: ofChat('ab'), finish_reason: null }]),
      chunk([{ text: ' c', index: 0, logprobs: ofChat(' c'), finish_reason: 'stop' }]),
    ]);
    expect(chunks).toMatchObject([
      { choices: [{ logprobs: ofText(['ab'], [0]) }] },
      { choices: [{ logprobs: ofText([' c'], [2]) }] },
    ]);
  });

  it('pass if they have the completions form', () => {
    const logprobs = ofText(['a'], [0]);
    const choices = [{ text: 'a', finish_reason: 'stop', logprobs }];
    const { body } = completionsToCompletions.translateReply({ choices }, answerContext);
    expect(body['choices']).toMatchObject([{ logprobs }]);
  });
});

describe('a stream of text completions', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };

  it.each([
    ['in a chunk of its own', [chunk([], { usage }), '[DONE]']],
    ['with the finish reason', ['[DONE]'], { usage }],
  ])('has the usage in its last chunk, whether it comes %s', (_, rest, last: JsonObject = {}) => {
    const events = stream([
      chunk([{ text: 'b', index: 0, finish_reason: null }]),
      chunk([{ text: '', index: 0, finish_reason: 'stop' }], last),
      ...rest,
    ]);
    const choice = { index: 0, logprobs: null };
    expect(events).toEqual([
      { ...own, choices: [{ ...choice, text: 'b', finish_reason: null }] },
      { ...own, choices: [{ ...choice, text: '', finish_reason: 'stop' }], usage: { ...usage, total_tokens: 5 } },
    ]);
  });

  it('with several answers ends once all of them have ended', () => {
    const events = [
      chunk([{ text: 'a', index: 0, finish_reason: null }]),
      chunk([{ text: 'b', index: 1, finish_reason: null }]),
      chunk([{ text: '', index: 1, finish_reason: 'length' }]),
    ];
    expect(() => stream([...events, '[DONE]'])).toThrow(errorWith('upstream_failed'));
    const whole = stream([...events, chunk([{ text: '', index: 0, finish_reason: 'stop' }]), '[DONE]']);
    expect(whole.map(({ usage: counted }) => counted !== undefined)).toEqual([false, false, false, true]);
  });

  it('without a finish reason is an upstream failure', () => {
    const events = [chunk([{ text: 'a', index: 0, finish_reason: null }]), '[DONE]'];
    expect(() => stream(events)).toThrow(errorWith('upstream_failed'));
  });
});
