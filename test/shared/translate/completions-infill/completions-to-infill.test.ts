import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { completionsToInfill, infillUpstream } from '#shared/translate/completions-infill/completions-to-infill.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const answerContext = { id: 'cmpl-1', model: 'm', created: 5, promptTokens: () => 7 };
const asked = { model: 'auto', prompt: 'a', suffix: 'b' };
const request = (fields: JsonObject): JsonObject =>
  completionsToInfill.translateRequest({ ...asked, ...fields }, { model: 'm' });

describe('a text completion request with a suffix', () => {
  it('has the field names of llama.cpp', () => {
    const kept = { temperature: 0.2, top_k: 3, stream: true };
    const fields = { max_tokens: 9, stop: '\n', n: 1, echo: false, user: 'me', ...kept };
    const renamed = { input_prefix: 'a', input_suffix: 'b', n_predict: 9, stop: ['\n'] };
    expect(request({ ...fields, stream_options: { include_usage: true } })).toEqual({
      model: 'm',
      ...renamed,
      ...kept,
    });
  });

  it.each([
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt', { prompt: [1, 2] }],
    ['n', { n: 2 }],
    ['best_of', { best_of: 3 }],
    ['echo', { echo: true }],
    ['logprobs', { logprobs: 2 }],
  ])('is refused with %s in %o', (param, fields) => {
    expect(() => request(fields)).toThrow(errorWith('unsupported_parameter', { param }));
  });
});

describe('a text completion with a suffix', () => {
  const last = { content: '', stop: true, stop_type: 'limit', tokens_evaluated: 4, tokens_predicted: 2 };

  it('has the form of a text completion', () => {
    const { body } = completionsToInfill.translateReply({ ...last, content: 'x', stop_type: 'eos' }, answerContext);
    expect(body).toEqual({
      id: 'cmpl-1',
      object: 'text_completion',
      created: 5,
      model: 'm',
      choices: [{ text: 'x', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 },
    });
  });

  it('is streamed, with usage and finish reason in the last chunk', () => {
    const stream = completionsToInfill.createStream(answerContext);
    expect(stream.translateEvent(JSON.stringify({ content: 'x', stop: false }))).toContain('"text":"x"');
    expect(stream.translateEvent(JSON.stringify(last))).toBe('');
    const { text, ending } = stream.translateEnd();
    expect(text).toMatch(/"finish_reason":"length".*"completion_tokens":2.*data: \[DONE\]\n\n$/s);
    expect(ending).toMatchObject({ finishReason: 'length', usage: { promptTokens: 4, completionTokens: 2 } });
  });

  it('is an upstream failure if it breaks off', () => {
    const stream = completionsToInfill.createStream(answerContext);
    stream.translateEvent(JSON.stringify({ content: 'x', stop: false }));
    expect(() => stream.translateEnd()).toThrow(errorWith('upstream_failed'));
  });

  it('ends with the stop event, and not with a text that contains the same words', () => {
    expect(infillUpstream.classifyEvent?.(JSON.stringify(last))).toBe('last');
    expect(infillUpstream.classifyEvent?.(JSON.stringify({ content: '{"stop":true}', stop: false }))).toBe('answer');
  });
});
