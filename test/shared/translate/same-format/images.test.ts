import { describe, expect, it } from 'vitest';
import { translationBetween } from '../translation-between.ts';

const translation = translationBetween('images', 'images');
const answerContext = { id: 'img-1', model: 'm', created: 5, promptTokens: () => 7 };

it('an image request passes with the name of the chosen model', () => {
  const asked = { prompt: 'A cat', n: 2, size: '1024x1024', later: true };
  expect(translation.translateRequest(asked, { model: 'm' })).toEqual({ ...asked, model: 'm' });
});

describe('an answer with pictures', () => {
  it('passes, and its usage counts the pictures, and the tokens if the upstream reports them', () => {
    const data = [{ b64_json: 'eA==' }, { url: 'https://example.com/a.png' }];
    const usage = { input_tokens: 12, output_tokens: 4160 };
    const body = { created: 9, data, usage, size: 'x' };
    const reply = translation.translateReply(body, answerContext);
    expect(reply.body).toEqual(body);
    const counted = { promptTokens: 12, completionTokens: 4160, units: { images: 2 } };
    expect(reply.ending).toMatchObject({ usage: counted, finishReason: 'stop' });
  });

  it('has a creation time', () => {
    expect(translation.translateReply({ data: [{ url: 'a' }] }, answerContext).body).toMatchObject({ created: 5 });
  });

  it.each([{}, { data: [] }, { data: [{}] }, { data: 'x' }])(
    'is an upstream failure if it has no pictures: %j',
    (body) => {
      expect(() => translation.translateReply(body, answerContext)).toThrow('no picture');
    },
  );

  it('is an error if the upstream sent one', () => {
    const error = { message: 'Your request was rejected by the safety system.', code: 400 };
    expect(() => translation.translateReply({ error }, answerContext)).toThrow('safety system');
  });
});
