import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { serveDirectly } from '#services/ingress/http/direct-routes.ts';
import { createMessageClasses } from '#services/ingress/http/message-classes.ts';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const cluster = useScriptedCluster({}, {});

/** Starts a server that serves `/a` directly with these handlers. Its app answers every other request with `app`. */
async function start(handlers: RequestHandler[], answerError?: (error: Error) => string) {
  const app = express();
  app.use((_, response) => void response.send('app'));
  const route = {
    path: '/a',
    handlers,
    answerError: (error: Error, _: unknown, response: express.Response, next: express.NextFunction) =>
      response.headersSent ? next(error) : void response.send(answerError?.(error) ?? error.message),
  };
  const server = createServer(createMessageClasses(app), serveDirectly(app, [route], silentLog));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (path: string, method = 'POST') => (await fetch(`http://127.0.0.1:${port}${path}`, { method })).text();
}

it('a POST of the exact path is served directly, and every other request by the app', async () => {
  const send = await start([
    (_request, response, next) => {
      response.setHeader('x-first', 'yes');
      next();
    },
    ({ originalUrl, baseUrl, path, query }, response) =>
      void response.send(JSON.stringify([originalUrl, baseUrl, path, query, response.getHeader('x-first')])),
  ]);
  expect(JSON.parse(await send('/a'))).toEqual(['/a', '', '/a', {}, 'yes']);
  expect(JSON.parse(await send('/a?b=1'))).toEqual(['/a?b=1', '', '/a', { b: '1' }, 'yes']);
  expect([await send('/a', 'GET'), await send('/a/'), await send('/A'), await send('/a/b')]).toEqual(
    Array.from({ length: 4 }, () => 'app'),
  );
});

it.each<[string, RequestHandler]>([
  [
    'throws',
    () => {
      throw new Error('failed');
    },
  ],
  ['rejects', () => Promise.reject(new Error('failed'))],
  ['passes on', (_request, _response, next) => next(new Error('failed'))],
])('an error that a direct handler %s is answered', async (_, handler) => {
  const send = await start([(_request, _response, next) => next(), handler]);
  expect(await send('/a')).toBe('failed');
});

it('a connection is closed if an error can no longer be sent', async () => {
  const begun = await start([
    (_request, response, next) => {
      response.write('begun');
      next(new Error('failed'));
    },
  ]);
  await expect(begun('/a')).rejects.toThrow();
  const broken = await start([(_request, _response, next) => next(new Error('failed'))], () => {
    throw new Error('failed again');
  });
  await expect(broken('/a')).rejects.toThrow();
});

it('a request whose path ends with a slash gets the same answers', async () => {
  const ask = async (path: string, key: string) => {
    const answer = await fetch(`${cluster.url}/api/openai/v1/chat/completions${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(chatRequest([{ write: '{"id":"a"}' }])),
    });
    return [answer.status, (await answer.text()).replaceAll(/req_[\w-]+/g, ''), [...answer.headers.keys()]];
  };
  expect(await ask('/', cluster.key)).toEqual(await ask('', cluster.key));
  expect(await ask('/', 'wrong')).toEqual(await ask('', 'wrong'));
});
