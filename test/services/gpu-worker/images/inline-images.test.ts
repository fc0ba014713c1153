import { describe, expect, it } from 'vitest';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import { inlineImages } from '#services/gpu-worker/images/inline-images.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const { signal } = new AbortController();
const fetchImage = (url: URL): Promise<string> => Promise.resolve(`data:image/png;base64,${url.pathname.slice(1)}`);
const unused = (): Promise<string> => Promise.reject(new Error('nothing is to be fetched here'));
const asking = (...content: object[]) => ({ messages: [said('user', content as never)] });
const showing = (url: unknown) => asking(textBlock('Look'), { type: 'image_url', image_url: url });

describe('inlineImages', () => {
  it('replaces an address by its image', async () => {
    const request = showing({ url: 'https://example.com/cat', detail: 'high' });
    expect(await inlineImages(request, fetchImage, signal)).toEqual(showing({ url: 'data:image/png;base64,cat' }));
  });

  it('keeps data URLs', async () => {
    const data = showing({ url: 'data:image/png;base64,AAAA' });
    expect(await inlineImages(data, unused, signal)).toEqual(data);
  });

  it('returns a request without images unchanged', async () => {
    const request = { messages: [said('user', 'Hi')] };
    expect(await inlineImages(request, unused, signal)).toBe(request);
  });

  const unfetchable = [
    'file:///etc/passwd',
    'ftp://example.com/cat',
    '/etc/passwd',
    '../cat.png',
    'FILE:///etc/passwd',
  ];
  it.each(unfetchable)('refuses %s, and names the part', async (url) => {
    await expect(inlineImages(showing({ url }), unused, signal)).rejects.toEqual(
      errorWith('invalid_request', { param: 'messages[0].content[1].image_url.url' }),
    );
  });

  it.each(['file:///etc/passwd', 'http://10.0.0.1/video'])('lets no engine fetch a video from %s', async (url) => {
    const request = asking({ type: 'video_url', video_url: { url } });
    await expect(inlineImages(request, unused, signal)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['a type that the router does not know', { type: 'input_image', image_url: 'http://169.254.169.254/' }],
    ['another type', { type: 'text', text: 'x', uuid: '1', image_url: { url: 'http://127.0.0.1:6379/' } }],
    [
      'another address beside',
      { type: 'image_url', image_url: { url: 'data:,' }, video_url: { url: 'file:///etc/passwd' } },
    ],
  ])('refuses an address in a part with %s', async (_, part) => {
    await expect(inlineImages(asking(part), unused, signal)).rejects.toEqual(
      errorWith('invalid_request', { param: 'messages[0].content[0]' }),
    );
  });

  it('names the reason why an image was not fetched', async () => {
    const failing = (): Promise<string> => Promise.reject(new PublicFetchError('its address is not public'));
    await expect(inlineImages(showing({ url: 'http://10.0.0.1/' }), failing, signal)).rejects.toEqual(
      errorWith('invalid_request', { message: 'The image was not fetched: its address is not public.' }),
    );
  });
});
