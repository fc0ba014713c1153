import { expect, it } from 'vitest';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';

const cluster = useScriptedCluster();

it('a client that does not ask for HTML gets the addresses of the console and the APIs', async () => {
  const behind = { PUBLIC_URL: 'https://llm.example.com/', TRUSTED_PROXIES: '127.0.0.1' };
  const placed = await cluster.addIngress({ CHAT_FAMILY: 'chatty', ...behind });
  for (const { url, base, chat } of [
    { url: cluster.url, base: cluster.url, chat: '/api/openai' },
    { url: placed.url, base: 'https://llm.example.com', chat: '/api/chatty' },
  ]) {
    const answer = await fetch(url, { headers: { accept: '*/*' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const text = await answer.text();
    expect(text).toContain(`console      ${base}/\n`);
    expect(text).toContain(` ${base}${chat}\n`);
    expect(text).toContain(` ${base}/api/anthropic\n`);

    // A mistyped path is still answered with 404, and a browser gets the console.
    expect((await fetch(`${url}/v1/models`, { headers: { accept: '*/*' } })).status).toBe(404);
    const ask = (path: string) => fetch(`${url}${path}`, { method: 'POST' });
    const missing = (family: string) => expect.stringContaining(`add ${family} to the base URL`) as string;
    const ofChat = { message: missing(chat), type: 'invalid_request_error' };
    expect(await (await ask('/v1/chat/completions')).json()).toMatchObject({ error: ofChat });
    const ofMessages = { message: missing('/api/anthropic'), type: 'not_found_error' };
    expect(await (await ask('/v1/messages')).json()).toMatchObject({ type: 'error', error: ofMessages });

    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toMatch(page.status === 200 ? /html/ : /text\/plain/);
    expect(await page.text()).not.toContain(chat);
  }
});
