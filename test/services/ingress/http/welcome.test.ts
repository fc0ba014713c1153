import { expect, it, onTestFinished } from 'vitest';
import { startScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';

it('a client that does not ask for HTML gets the addresses of the console and the APIs', async () => {
  const cluster = await startScriptedCluster({ ingress: { CHAT_FAMILY: 'chatty' } });
  onTestFinished(() => cluster.stop());
  const answer = await fetch(cluster.url, { headers: { accept: '*/*' } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const text = await answer.text();
  expect(text).toContain(`console      ${cluster.url}/\n`);
  expect(text).toContain(` ${cluster.url}/api/chatty\n`);
  expect(text).toContain(` ${cluster.url}/api/anthropic\n`);

  const behindProxy = await cluster.addIngress({
    PUBLIC_URL: 'https://llm.example.com/',
    TRUSTED_PROXIES: '127.0.0.1',
  });
  expect(await (await fetch(behindProxy.url)).text()).toContain('console      https://llm.example.com/\n');

  // A mistyped path is still answered with 404, and a browser gets the console.
  expect((await fetch(`${cluster.url}/v1/models`, { headers: { accept: '*/*' } })).status).toBe(404);
  const ask = (path: string) => fetch(`${cluster.url}${path}`, { method: 'POST' });
  expect(await (await ask('/v1/chat/completions')).json()).toMatchObject({
    error: {
      message: expect.stringContaining('add /api/chatty to the base URL') as string,
      type: 'invalid_request_error',
    },
  });
  expect(await (await ask('/v1/messages')).json()).toMatchObject({
    type: 'error',
    error: {
      message: expect.stringContaining('add /api/anthropic to the base URL') as string,
      type: 'not_found_error',
    },
  });

  const page = await fetch(cluster.url, { headers: { accept: 'text/html' } });
  expect(page.headers.get('content-type')).toMatch(page.status === 200 ? /html/ : /text\/plain/);
  expect(await page.text()).not.toContain('/api/chatty');
});
