import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { generateWebhookSecret, signWebhook } from '#shared/accounts/webhooks/webhook-signature.ts';

it('a message is verified and read by the official SDK with either of two secrets, and with no other', async () => {
  const { webhooks } = new OpenAI({ apiKey: 'none' });
  const [newer, older, other] = [generateWebhookSecret(), generateWebhookSecret(), generateWebhookSecret()];
  for (const secret of [newer, older, other]) expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  const body = '{"object":"event","type":"batch.completed","data":{"id":"batch_1"},"note":"grün ✓"}';
  const [id, timestamp] = ['wh_1', Math.floor(Date.now() / 1000)];
  const signature = signWebhook({ id, timestamp, body }, [newer, older]);
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
  for (const secret of [newer, older]) expect(await webhooks.unwrap(body, headers, secret)).toEqual(JSON.parse(body));
  await expect(webhooks.verifySignature(body, headers, other)).rejects.toThrow('does not match');
});
