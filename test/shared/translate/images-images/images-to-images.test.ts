import { describe, expect, it } from 'vitest';
import { imagesToImages } from '#shared/translate/images-images/images-to-images.ts';

const minted = { id: 'img-1', model: 'm', created: 5, promptTokens: () => 7 };

it('a request for pictures passes, with the name of the chosen model', () => {
  const asked = { prompt: 'A cat', n: 2, size: '1024x1024', later: true };
  expect(imagesToImages.request(asked, { model: 'm' })).toEqual({ ...asked, model: 'm' });
});

describe('an answer with pictures', () => {
  it('passes, and counts them, and tokens where the upstream does', () => {
    const data = [{ b64_json: 'eA==' }, { url: 'https://example.com/a.png' }];
    const usage = { input_tokens: 12, output_tokens: 4160 };
    expect(imagesToImages.reply({ created: 9, data, usage, size: 'x' }, minted)).toEqual({
      body: { created: 9, data, usage, size: 'x' },
      ending: {
        usage: expect.objectContaining({ promptTokens: 12, completionTokens: 4160, units: { images: 2 } }) as object,
        finishReason: 'stop',
      },
    });
  });

  it('has a time', () => {
    expect(imagesToImages.reply({ data: [{ url: 'a' }] }, minted).body).toMatchObject({ created: 5 });
  });

  it.each([{}, { data: [] }, { data: [{}] }, { data: 'x' }])('without pictures is a failure: %j', (body) => {
    expect(() => imagesToImages.reply(body, minted)).toThrow('no picture');
  });

  it('that is an error is that error', () => {
    const error = { message: 'Your request was rejected by the safety system.', code: 400 };
    expect(() => imagesToImages.reply({ error }, minted)).toThrow('safety system');
  });
});
