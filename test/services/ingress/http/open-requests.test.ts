import express, { type Response } from 'express';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { OpenRequests } from '#services/ingress/http/open-requests.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { until } from '../../../helpers/until.ts';

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

it('an idle connection keeps no reference to its last request', async () => {
  const open = new OpenRequests();
  const responses: WeakRef<Response>[] = [];
  const app = express();
  app.use(open.track, (_request, response) => {
    responses.push(new WeakRef(response));
    response.send('well');
  });
  const { port } = new URL(await serveInTest(app));
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  for (let at = 0; at < 3; at += 1) {
    const [answer] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe('well');
  }
  await until(() => expect([open.count, Object.keys(agent.freeSockets).length]).toEqual([0, 1]));
  collectGarbage();
  expect(responses.map((response) => response.deref())).toEqual([undefined, undefined, undefined]);
});
