import { randomBytes } from 'node:crypto';
import express from 'express';
import { expect, it } from 'vitest';
import { handleIdempotently } from '#services/ingress/idempotency/handle-idempotently.ts';
import type { IdempotencyParts } from '#services/ingress/idempotency/idempotency-parts.ts';
import type { KeyedRoute } from '#services/ingress/idempotency/keyed-request.ts';
import { getRequestContext } from '#services/ingress/http/request-context.ts';
import { assignRequestId } from '#services/ingress/http/request-id.ts';
import { IdempotentAnswers } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

it('a key is free at once if its client has left before the key was claimed', async () => {
  const { redis, prefix } = await openKeyStore();
  const secrets = [randomBytes(32)];
  const bounds = { ownerKeys: 100, answerBytes: 10_000, ownerBytes: 20_000, totalBytes: 30_000 };
  const answers = new IdempotentAnswers(redis, prefix, { bounds, keys: new OwnerKeys(() => secrets) });
  const client = new AbortController();
  const left = Promise.withResolvers<void>();
  const served = Promise.withResolvers<unknown>();
  // The claim is sent to Redis when the client has left.
  const retry = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    client.abort();
    await left.promise;
    return call();
  };
  const parts = {
    answers,
    outages: { retry },
    store: { assertIntact: () => undefined },
  } as unknown as IdempotencyParts;
  const route = { body: 'unread', isUncancelled: false } as KeyedRoute;
  let executions = 0;
  const handle = handleIdempotently(async () => void (executions += 1), route, parts);
  const app = express();
  app.use(assignRequestId);
  app.post('/', (request, response, next) => {
    getRequestContext(response).sender = { id: 'key', ownerId: 'ada' } as KeyIdentity;
    response.on('close', () => left.resolve());
    served.resolve(handle(request, response, next));
  });
  const url = await serveInTest(app);
  const headers = { 'idempotency-key': 'k' };
  await expect(fetch(url, { method: 'POST', headers, signal: client.signal })).rejects.toThrow('aborted');
  await served.promise;
  expect(executions).toBe(0);
  expect(await answers.claim('ada', 'k', { endpoint: 'POST /' }, false)).toMatchObject({
    outcome: 'claimed',
    number: 1,
  });
});
