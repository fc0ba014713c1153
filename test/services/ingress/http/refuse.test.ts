import express from 'express';
import { describe, expect, it } from 'vitest';
import { createErrorHandler } from '#services/ingress/http/answer-error.ts';
import { ClientReply } from '#services/ingress/http/client-reply.ts';
import { getRequestContext } from '#services/ingress/http/request-context.ts';
import { assignRequestId } from '#services/ingress/http/request-id.ts';
import { UnreadOutputs } from '#services/ingress/http/unread/unread-outputs.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { responsesFormat } from '#shared/formats/responses/responses-format.ts';
import { responseEvents } from '../../../shared/translate/responses/assemble-response.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const noMemory = { hold: () => undefined, releaseBody: () => undefined };

/** Opens a server that refuses every request with this error, after it has read the request if `stream` is set. */
async function refusing(code: ErrorCode, { format = responsesFormat, stream = undefined as boolean | undefined } = {}) {
  const counted: string[] = [];
  const app = express();
  app.use(assignRequestId);
  app.post('/', (_request, response) => {
    if (stream !== undefined) {
      const unreadOutputs = new UnreadOutputs(1_000_000);
      const reply = { format, requestId: 'req_1', answerId: 'resp_1', stream, unreadOutputs, memory: noMemory };
      getRequestContext(response).reply = new ClientReply(response, reply);
    }
    throw new RouterError(code, 'Why.');
  });
  app.use(createErrorHandler(format, { log: silentLog, countRefusal: ({ error }) => counted.push(error.code) }));
  const url = await serveInTest(app);
  const ask = (accept: string) => fetch(url, { method: 'POST', body: '{"stream":true}', headers: { accept } });
  return { ask, counted };
}

describe('a Responses request that fails before it is dispatched', () => {
  it.each([
    ['that was read and asks for a stream', true, 'application/json'],
    ['that was not read, from a client that accepts events only, as Codex', undefined, 'text/event-stream'],
  ])('%s has status 200 and a failed response', async (_, stream, accept) => {
    const { ask, counted } = await refusing('store_unavailable', { stream });
    const answer = await ask(accept);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const events = responseEvents(await answer.text());
    expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.failed']);
    const error = { code: 'server_is_overloaded', message: 'Why.' };
    expect(events.at(-1)?.['response']).toMatchObject({ id: expect.stringMatching(/^resp_/) as string, error });
    expect(counted).toEqual(['store_unavailable']);
  });

  it.each([
    ['a whole answer', 'store_unavailable', 503, false, 'application/json'],
    ['a stream, for a reason that its status tells', 'insufficient_quota', 429, true, 'text/event-stream'],
    ['what was not read, from another client', 'store_unavailable', 503, undefined, 'application/json'],
    ['what was not read, without a valid key', 'invalid_api_key', 401, undefined, 'text/event-stream'],
  ] as const)('has its status if it asks for %s', async (_, code, status, stream, accept) => {
    const answer = await (await refusing(code, { stream })).ask(accept);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { message: 'Why.' } });
  });
});

it('requests of other formats that fail have their status always', async () => {
  for (const format of clientFormats.filter(({ choosesAnswerIds }) => choosesAnswerIds !== true)) {
    const answer = await (await refusing('internal', { format, stream: true })).ask('text/event-stream');
    expect(answer.status).toBe(500);
  }
});
