import { expect, it, onTestFinished } from 'vitest';
import { startEdge } from '../../../helpers/cluster/start-edge.ts';

it('a program that asks for no page is told where the console and the APIs are', async () => {
  const edge = await startEdge({ ingress: { CHAT_FAMILY: 'chatty' } });
  onTestFinished(() => edge.stop());
  const answer = await fetch(edge.url, { headers: { accept: '*/*' } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const text = await answer.text();
  expect(text).toContain(`console      ${edge.url}/\n`);
  expect(text).toContain(` ${edge.url}/api/chatty\n`);
  expect(text).toContain(` ${edge.url}/api/anthropic\n`);

  const behindProxy = await edge.addIngress({ PUBLIC_URL: 'https://llm.example.com/', TRUSTED_PROXIES: '127.0.0.1' });
  expect(await (await fetch(behindProxy.url)).text()).toContain('console      https://llm.example.com/\n');

  // A mistyped path is still answered with 404, and a browser gets the console.
  expect((await fetch(`${edge.url}/v1/models`, { headers: { accept: '*/*' } })).status).toBe(404);
  const page = await fetch(edge.url, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toMatch(page.status === 200 ? /html/ : /text\/plain/);
  expect(await page.text()).not.toContain('/api/chatty');
});
