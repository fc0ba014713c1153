import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { generateWebhookSecret, signWebhook } from '#shared/accounts/webhooks/webhook-signature.ts';

const client = new OpenAI({ apiKey: 'none' });
const body = '{"object":"event","type":"batch.completed","data":{"id":"batch_1"},"note":"grün ✓"}';

/** The headers of a message that is sent now. */
function headersOf(secrets: string[], timestamp = Math.floor(Date.now() / 1000)): Record<string, string> {
  const id = 'wh_1';
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signWebhook({ id, timestamp, body }, secrets),
  };
}

describe('a signed message', () => {
  it('is verified and read by the official SDK', async () => {
    const secret = generateWebhookSecret();
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(await client.webhooks.unwrap(body, headersOf([secret]), secret)).toEqual(JSON.parse(body));
  });

  it('with two signatures is verified with either secret, and with no other', async () => {
    const [newer, older, other] = [generateWebhookSecret(), generateWebhookSecret(), generateWebhookSecret()];
    const headers = headersOf([newer, older]);
    await client.webhooks.verifySignature(body, headers, newer);
    await client.webhooks.verifySignature(body, headers, older);
    await expect(client.webhooks.verifySignature(body, headers, other)).rejects.toThrow('does not match');
  });

  it('is refused when it was changed, or sent six minutes ago', async () => {
    const secret = generateWebhookSecret();
    await expect(client.webhooks.unwrap(`${body} `, headersOf([secret]), secret)).rejects.toThrow('does not match');
    const renamed = { ...headersOf([secret]), 'webhook-id': 'wh_2' };
    await expect(client.webhooks.unwrap(body, renamed, secret)).rejects.toThrow('does not match');
    const old = headersOf([secret], Math.floor(Date.now() / 1000) - 360);
    await expect(client.webhooks.unwrap(body, old, secret)).rejects.toThrow('too old');
  });
});
