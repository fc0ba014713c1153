import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { translationBetween } from './translation-between.ts';

const name = 'ada@example.com';
const hash = createHash('sha256').update(name).digest('hex');
const messages = [{ role: 'user', content: 'hi' }];
const chat = { model: 'm', messages, user: name };
const claude = { model: 'm', max_tokens: 9, messages, metadata: { user_id: name } };
const responses = { model: 'm', input: 'hi', user: name };

it.each<{ client: string; upstream: string; body: JsonObject; sent: JsonObject }>([
  { client: 'messages', upstream: 'chat', body: claude, sent: { user: hash } },
  { client: 'messages', upstream: 'responses', body: claude, sent: { user: hash } },
  { client: 'chat', upstream: 'messages', body: chat, sent: { metadata: { user_id: hash } } },
  { client: 'responses', upstream: 'messages', body: responses, sent: { metadata: { user_id: hash } } },
])('the user of a $client request is a pseudonym for a $upstream upstream', ({ client, upstream, body, sent }) => {
  const request = translationBetween(client, upstream).translateRequest(body, { model: 'up' });
  expect(request).toMatchObject(sent);
  expect(JSON.stringify(request)).not.toContain(name);
});

it.each([
  ['messages', claude],
  ['responses', responses],
])('a stream of a %s client asks a chat upstream for its usage', (client, body) => {
  const request = translationBetween(client, 'chat').translateRequest({ ...body, stream: true }, { model: 'up' });
  expect(request).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});
