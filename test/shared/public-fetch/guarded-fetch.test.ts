import { describe, expect, it } from 'vitest';
import { createGuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { PublicFetchError } from '#shared/public-fetch/public-fetch-error.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';

const anywhere = { timeoutMs: 2_000, maxBytes: 1_000, isAllowed: () => true };

describe('createGuardedFetch', () => {
  it('sends a form with its headers, and returns the answer', async () => {
    const receiver = await startReceiver();
    receiver.answer((response) => response.writeHead(201, { 'x-own': 'yes' }).end('{"a":"ü"}'));
    const form = { method: 'POST', headers: { 'x-asked': '1' }, body: new URLSearchParams({ grant: 'a b' }) };
    const answer = await createGuardedFetch(anywhere)(receiver.url, form);
    expect([answer.status, answer.headers.get('x-own'), await answer.json()]).toEqual([201, 'yes', { a: 'ü' }]);
    expect(receiver.messages).toEqual([{ headers: expect.objectContaining({ 'x-asked': '1' }), body: 'grant=a+b' }]);
  });

  it('connects to allowed addresses only, by number or by name', async () => {
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const fetch = createGuardedFetch({ timeoutMs: 2_000, maxBytes: 1_000 });
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '169.254.169.254', '168.63.129.16'])
      await expect(fetch(`http://${host}:${port}/`)).rejects.toThrow(new PublicFetchError('its address is not public'));
    await expect(fetch('file:///etc/passwd')).rejects.toThrow(PublicFetchError);
    expect(receiver.messages).toEqual([]);
  });

  it('follows no redirect', async () => {
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    receiver.answer((response) => response.writeHead(307, { location: other.url }).end());
    const { status } = await createGuardedFetch(anywhere)(receiver.url, { method: 'POST', body: 'secret' });
    expect({ status, received: other.messages }).toEqual({ status: 307, received: [] });
  });

  it('refuses an answer that is too large, and one that does not come', async () => {
    const receiver = await startReceiver();
    receiver.answer((response) => response.end('x'.repeat(1_001)));
    await expect(createGuardedFetch(anywhere)(receiver.url, { method: 'POST', body: '' })).rejects.toThrow('too large');
    receiver.answer(() => undefined);
    const impatient = createGuardedFetch({ ...anywhere, timeoutMs: 50 });
    await expect(impatient(receiver.url, { method: 'POST', body: '' })).rejects.toThrow('it took too long');
  });
});
