import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { sendJson } from '#services/ingress/http/send-json.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { startUnreadClient } from '../../../helpers/clients/start-unread-client.ts';

const mebibyte = 1024 * 1024;

it('JSON that clients do not read is bounded in sum: the largest ends, and the others are read whole', async () => {
  const outputs = new UnreadOutputs(40 * mebibyte);
  const [largest, other] = [await startUnreadClient(), await startUnreadClient()];
  const closed = once(largest.response, 'close');
  sendJson(largest.response, { text: 'x'.repeat(30 * mebibyte) }, outputs);
  expect(outputs.bytes).toBeGreaterThan(20 * mebibyte);
  sendJson(other.response, { text: 'y'.repeat(25 * mebibyte) }, outputs);
  await closed;
  expect(outputs.givenUp).toBe(1);
  const [, body = ''] = (await text(other.client)).split('\r\n\r\n');
  expect(body.length).toBe(25 * mebibyte + '{"text":""}'.length);
});
