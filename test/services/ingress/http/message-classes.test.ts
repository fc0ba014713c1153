import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createMessageClasses } from '#services/ingress/http/message-classes.ts';

it('Express finds the messages of its requests with its methods, and does not change their prototypes', async () => {
  const app = express();
  app.response.json = function json(value: unknown) {
    return this.send(`own ${JSON.stringify(value)}`);
  };
  app.get('/echo', (request, response) => void response.json([request.get('x-name'), request.query, request.path]));
  const prototypes: unknown[][] = [];
  const server = createServer(createMessageClasses(app), (request, response) => {
    const created = [request, response].map((message) => Object.getPrototypeOf(message) as unknown);
    app(request, response);
    const served = [request, response].map((message) => Object.getPrototypeOf(message) as unknown);
    prototypes.push(created, served);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  const answer = await fetch(`http://127.0.0.1:${port}/echo?a=1`, { headers: { 'x-name': 'n' } });

  expect(await answer.text()).toBe('own ["n",{"a":"1"},"/echo"]');
  const [created, served] = prototypes;
  expect(served?.[0]).toBe(created?.[0]);
  expect(served?.[1]).toBe(created?.[1]);
});
