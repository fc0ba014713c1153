import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { createGuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import { createPublicPost, type PublicPostOptions } from '#shared/public-fetch/public-post.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

const message = { headers: { 'content-type': 'application/json', 'x-own': 'yes' }, body: '{"a":"ü"}' };
const patient = { timeoutMs: 20_000 };
const anywhere = { ...patient, isAllowed: () => true };

/** Posts the message, and returns the status of the answer. */
type Post = (url: string, signal?: AbortSignal) => Promise<number>;

function poster(options: PublicPostOptions): Post {
  const post = createPublicPost(options);
  return (url, signal = new AbortController().signal) => post(new URL(url), message, signal);
}

const fetcher =
  (options: PublicPostOptions): Post =>
  async (url) =>
    (await createGuardedFetch({ maxBytes: 1_000, ...options })(url, { method: 'POST', ...message })).status;

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

describe.each([
  ['createPublicPost', poster],
  ['createGuardedFetch', fetcher],
])('%s', (_, open) => {
  it('posts a text with its headers, and returns the status', async () => {
    const receiver = await startReceiver();
    receiver.answer((response) => response.writeHead(202).end('thanks'));
    expect(await open(anywhere)(receiver.url)).toBe(202);
    expect(receiver.messages).toEqual([{ headers: expect.objectContaining(message.headers), body: message.body }]);
  });

  it('connects to public addresses only, by number or by name', async () => {
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '169.254.169.254', '168.63.129.16']) {
      const refused = open(patient)(`http://${host}:${port}/`);
      await expect(refused).rejects.toThrow(new PublicFetchError('its address is not public'));
    }
    await expect(open(anywhere)('file:///etc/passwd')).rejects.toThrow(PublicFetchError);
    expect(receiver.messages).toEqual([]);
  });

  it('checks the address that it connects to: a name that resolves differently later gains nothing', async () => {
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const isAllowed = (address: string): boolean => address !== '127.0.0.1';
    for (const answers of [[['127.0.0.1'], ['192.0.2.1']], [['192.0.2.1', '127.0.0.1']]]) {
      const post = open({ ...patient, isAllowed, lookup: resolveTo(...answers) });
      await expect(post(`http://hook.test:${port}/`)).rejects.toThrow('not public');
    }
    expect(receiver.messages).toEqual([]);
  });

  it('follows no redirect', async () => {
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    receiver.answer((response) => response.writeHead(307, { location: other.url }).end());
    expect(await open(anywhere)(receiver.url)).toBe(307);
    expect(other.messages).toEqual([]);
  });

  it('gives up a receiver that is silent', async () => {
    const receiver = await startReceiver();
    receiver.answer(() => undefined);
    await expect(open({ ...anywhere, timeoutMs: 200 })(receiver.url)).rejects.toThrow('it took too long');
  });
});

it('createPublicPost does not wait for the rest of an answer that is long or never ends', async () => {
  const receiver = await startReceiver();
  receiver.answer((response) => void response.writeHead(200).write('x'.repeat(100_000)));
  expect(await poster(anywhere)(receiver.url)).toBe(200);
  // It reads on for as long as an answer may take, and the head of this one must come before.
  receiver.answer((response) => void response.writeHead(200).write('x'));
  expect(await poster({ ...anywhere, timeoutMs: 3_000 })(receiver.url)).toBe(200);
});

it('createPublicPost gives up a receiver that is away, or of another protocol, and ends with its signal', async () => {
  const post = poster(anywhere);
  await expect(post('http://127.0.0.1:1/')).rejects.toThrow('could not be reached');
  await expect(post('file:///etc/passwd')).rejects.toThrow('only http and https');
  const receiver = await startReceiver();
  receiver.answer(() => undefined);
  const stop = new AbortController();
  const posting = post(receiver.url, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(posting).rejects.toThrow('stopped');
});

it('createGuardedFetch sends a form, and returns the answer', async () => {
  const receiver = await startReceiver();
  receiver.answer((response) => response.writeHead(201, { 'x-own': 'yes' }).end('{"a":"ü"}'));
  const form = { method: 'POST', body: new URLSearchParams({ grant: 'a b' }) };
  const answer = await createGuardedFetch({ ...anywhere, maxBytes: 1_000 })(receiver.url, form);
  expect([answer.status, answer.headers.get('x-own'), await answer.json()]).toEqual([201, 'yes', { a: 'ü' }]);
  expect(receiver.messages).toMatchObject([{ body: 'grant=a+b' }]);
});

it('createGuardedFetch refuses an answer that is too large', async () => {
  const receiver = await startReceiver();
  receiver.answer((response) => response.end('x'.repeat(1_001)));
  await expect(fetcher(anywhere)(receiver.url)).rejects.toThrow('too large');
});
