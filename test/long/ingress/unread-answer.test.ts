import { once } from 'node:events';
import { expect, it } from 'vitest';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { ClientReply } from '#services/ingress/http/client-reply.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { startUnreadClient } from '../../helpers/clients/start-unread-client.ts';

// Node gives a socket that has written anything since it last looked another half minute.
it('the last bytes of an answer wait a minute at most for a client that reads nothing', async () => {
  const { response } = await startUnreadClient();
  const unreadOutputs = new UnreadOutputs(64 * 1024 * 1024);
  const memory = { hold: () => undefined, releaseBody: () => undefined };
  const options = { format: chatFormat, requestId: 'req_1', stream: false, unreadOutputs, memory };
  new ClientReply(response, options).end(Buffer.alloc(64 * 1024 * 1024, ' '));
  const begun = performance.now();
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
  expect(performance.now() - begun).toBeGreaterThan(29_000);
  expect(performance.now() - begun).toBeLessThan(70_000);
});
