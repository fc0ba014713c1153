import { pipeline } from 'node:stream/promises';
import express from 'express';
import { Pool } from 'undici';

/*
 * The proxy that one would write in ten minutes: Express relays every POST to one upstream, through undici. No keys, checks, retries or
 * logs.
 */
const pool = new Pool(process.env['UPSTREAM'] ?? '', { headersTimeout: 0, bodyTimeout: 0 });
const app = express();
app.disable('x-powered-by');

app.get('/health', (_, response) => void response.json({}));

app.post('/*path', async (request, response) => {
  const { 'content-type': type, 'content-length': length, authorization } = request.headers;
  const answer = await pool.request({
    method: 'POST',
    path: request.url,
    headers: { 'content-type': type, 'content-length': length, authorization },
    body: request,
  });
  response.status(answer.statusCode);
  for (const name of ['content-type', 'content-length']) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  // A client that leaves ends the upstream's answer.
  await pipeline(answer.body, response).catch(() => undefined);
});

app.listen(Number(process.env['PORT']), '127.0.0.1');
