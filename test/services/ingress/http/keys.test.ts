import { expect, it } from 'vitest';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';

const cluster = useScriptedCluster();

it('a key is required on every path except /health; a wrong one and a missing one get different errors', async () => {
  const ask = async (path: string, authorization?: string) => {
    const answer = await fetch(cluster.url + path, { headers: authorization === undefined ? {} : { authorization } });
    return { status: answer.status, body: (await answer.json()) as { error?: object } };
  };
  const refusal = (code: string | null) => {
    return { status: 401, body: { error: { type: 'invalid_request_error', code, param: null } } };
  };
  for (const path of ['/api/openai/models', '/api/openai/v1/chat/completions', '/api/openai/nothing']) {
    for (const none of [undefined, '', 'Bearer', 'Bearer ', `Basic ${cluster.key}`, cluster.key])
      expect(await ask(path, none)).toMatchObject(refusal(null));
    for (const wrong of ['sk-1234', `${cluster.key}x`, cluster.key.slice(0, -1), generateKey('router').rawKey])
      expect(await ask(path, `Bearer ${wrong}`)).toMatchObject(refusal('invalid_api_key'));
  }
  for (const path of ['/health', '/api/openai/health']) expect((await ask(path)).status).toBe(200);
  expect(await ask('/api/openai/models', `bearer ${cluster.key}`)).toMatchObject({ status: 200 });
});

it('a key that is wrong is named by the header that it came in', async () => {
  const ask = async (headers: Record<string, string>, path = '/v1/models'): Promise<unknown> =>
    (await fetch(`${cluster.url}/api/anthropic${path}`, { headers })).json();
  const error = (message: string) => ({ type: 'error', error: { type: 'authentication_error', message } });
  expect(await ask({ authorization: 'Bearer sk-1234' })).toMatchObject(error('Invalid bearer token'));
  expect(await ask({ 'x-api-key': 'sk-1234' })).toMatchObject(error('invalid x-api-key'));
  const notThere = { type: 'not_found_error', message: 'There is no GET /api/anthropic/v1/nothing here.' };
  expect(await ask({ 'x-api-key': cluster.key }, '/v1/nothing')).toMatchObject({ type: 'error', error: notThere });
});

it('of two keys in one header, none counts; `Authorization` counts before another header', async () => {
  const ask = async (...headers: string[]): Promise<number> => {
    const { socket, text, closed } = await openRaw(cluster.url);
    const head = ['GET /api/anthropic/v1/models HTTP/1.1', 'Host: a', 'Connection: close', ...headers];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    await closed;
    return readRawAnswer(text()).status;
  };
  const [good, wrong] = [cluster.key, `${cluster.key}x`];
  expect(await ask(`Authorization: Bearer ${good}`, `Authorization: Bearer ${wrong}`)).toBe(401);
  expect(await ask(`Authorization: Bearer ${good}`, `Authorization: Bearer ${good}`)).toBe(401);
  expect(await ask(`x-api-key: ${good}`, `x-api-key: ${wrong}`)).toBe(401);
  expect(await ask(`Authorization: Bearer ${good}`, `x-api-key: ${wrong}`)).toBe(200);
  expect(await ask(`Authorization: Bearer ${wrong}`, `x-api-key: ${good}`)).toBe(401);
});
