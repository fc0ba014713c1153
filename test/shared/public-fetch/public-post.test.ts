import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { PublicFetchError } from '#shared/public-fetch/public-fetch-error.ts';
import { createPublicPost, type PublicPostOptions } from '#shared/public-fetch/public-post.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

const message = { headers: { 'content-type': 'application/json', 'x-own': 'yes' }, body: '{"a":"ü"}' };
const never = new AbortController().signal;
const anywhere = { timeoutMs: 2_000, isAllowed: () => true };

/** Posts the message. */
function poster(options: PublicPostOptions) {
  const post = createPublicPost(options);
  return (url: string) => post(new URL(url), message, never);
}

/** A resolver that returns these addresses for every name, one list for each call. */
function resolveTo(...answers: string[][]) {
  let asked = 0;
  const lookup = (
    _name: string,
    _options: LookupAllOptions,
    callback: (error: null, addresses: LookupAddress[]) => void,
  ): void => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    const found = addresses.map((address) => ({ address, family: 4 }));
    callback(null, found);
  };
  return lookup as unknown as typeof import('node:dns').lookup;
}

describe('createPublicPost', () => {
  it('posts the text with its headers, and returns the status', async () => {
    const receiver = await startReceiver();
    receiver.answer((response) => response.writeHead(202).end('thanks'));
    expect(await poster(anywhere)(receiver.url)).toBe(202);
    expect(receiver.messages).toEqual([{ headers: expect.objectContaining(message.headers), body: message.body }]);
  });

  it('connects to public addresses only, by number or by name', async () => {
    const receiver = await startReceiver();
    const post = poster({ timeoutMs: 2_000 });
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '169.254.169.254'])
      await expect(post(`http://${host}:${port}/`)).rejects.toThrow(new PublicFetchError('its address is not public'));
    expect(receiver.messages).toEqual([]);
  });

  it('checks the address that it connects to: a name that resolves differently later gains nothing', async () => {
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const isAllowed = (address: string): boolean => address !== '127.0.0.1';
    const post = poster({ timeoutMs: 2_000, isAllowed, lookup: resolveTo(['127.0.0.1'], ['192.0.2.1']) });
    await expect(post(`http://hook.test:${port}/`)).rejects.toThrow('not public');
    const mixed = poster({ timeoutMs: 2_000, isAllowed, lookup: resolveTo(['192.0.2.1', '127.0.0.1']) });
    await expect(mixed(`http://hook.test:${port}/`)).rejects.toThrow('not public');
    expect(receiver.messages).toEqual([]);
  });

  it('follows no redirect', async () => {
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    receiver.answer((response) => response.writeHead(307, { location: other.url }).end());
    expect(await poster(anywhere)(receiver.url)).toBe(307);
    expect(other.messages).toEqual([]);
  });

  it('does not wait for the rest of an answer that is long or never ends', async () => {
    const receiver = await startReceiver();
    receiver.answer((response) => void response.writeHead(200).write('x'.repeat(100_000)));
    expect(await poster(anywhere)(receiver.url)).toBe(200);
    receiver.answer((response) => void response.writeHead(200).write('x'));
    expect(await poster({ ...anywhere, timeoutMs: 200 })(receiver.url)).toBe(200);
  });

  it('gives up a receiver that is silent, away, or of another protocol, and ends with its signal', async () => {
    const receiver = await startReceiver();
    receiver.answer(() => undefined);
    const post = poster({ ...anywhere, timeoutMs: 200 });
    await expect(post(receiver.url)).rejects.toThrow('it took too long');
    await expect(post('http://127.0.0.1:1/')).rejects.toThrow('could not be reached');
    await expect(post('file:///etc/passwd')).rejects.toThrow('only http and https');
    const stop = new AbortController();
    const posting = createPublicPost(anywhere)(new URL(receiver.url), message, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(posting).rejects.toThrow('stopped');
  });
});
