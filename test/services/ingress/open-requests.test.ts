import express from 'express';
import { once } from 'node:events';
import { Agent, createServer, get, ServerResponse, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { queryObjects } from 'node:v8';
import { expect, it, onTestFinished } from 'vitest';
import { OpenRequests } from '../../../services/ingress/open-requests.ts';

/** Responses that are still reachable, after a collection of garbage. */
function reachableResponses(): number {
  return queryObjects(ServerResponse, { format: 'count' });
}

it('a connection that rests holds nothing of its last request', async () => {
  const open = new OpenRequests();
  const app = express();
  app.use(open.follow, (_request, response) => void response.send('well'));
  const server = createServer(app).listen(0, '127.0.0.1');
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const before = reachableResponses();
  for (let at = 0; at < 3; at += 1) {
    const [answer] = (await once(get({ port, agent }), 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe('well');
  }
  await expect.poll(() => [open.count, Object.keys(agent.freeSockets).length]).toEqual([0, 1]);
  expect(reachableResponses()).toBe(before);
});
