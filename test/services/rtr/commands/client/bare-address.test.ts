import { expect, it } from 'vitest';
import { AdminClient } from '#services/rtr/commands/admin/admin-client.ts';
import { toBareAddress } from '#services/rtr/commands/client/bare-address.ts';

it.each([
  ['http://api/', 'http://api'],
  ['http://api', 'http://api'],
  ['http://api/api/admin/v1', 'http://api'],
  ['https://api:8484/api/', 'https://api:8484'],
  ['http://127.0.0.1:8484/api', 'http://127.0.0.1:8484'],
  ['http://127.0.0.1:8484/api/openai/v1?team=1#top', 'http://127.0.0.1:8484'],
  ['http://127.0.0.1:8484/?next=/api/x', 'http://127.0.0.1:8484'],
  ['https://llm.example.com/router/api/admin/v1/', 'https://llm.example.com/router'],
  ['https://llm.example.com/apis/', 'https://llm.example.com/apis'],
])('the address of a router is read from %s, also by the client of the Admin API', (url, router) => {
  expect(toBareAddress(url)).toBe(router);
  expect(new AdminClient({ url, token: () => Promise.resolve(''), unknownTokenMessage: '' }).url).toBe(router);
});
