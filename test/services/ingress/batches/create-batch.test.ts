import { once } from 'node:events';
import { request as send, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { createBatch, type CreateBatchParts } from '#services/ingress/batches/create-batch.ts';
import { HeldBodies } from '#services/ingress/http/held-bodies.ts';
import { createContext } from '#services/ingress/http/request-context.ts';
import { Batches } from '#shared/accounts/batches/batches.ts';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { RouterError } from '#shared/core/errors.ts';
import { Files } from '#shared/files/files.ts';
import { anthropicApi } from '#shared/formats/apis/anthropic-api.ts';
import { anthropicBatches } from '#shared/formats/batches/anthropic-batches.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { identityOf } from '../../../helpers/serving/serving-parts.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { openObjects } from '../../../helpers/files/open-objects.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const hourMs = 3_600_000;
const owner = 'ada';
const params = { model: 'demo', max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] };
const body = JSON.stringify({ requests: [{ custom_id: 'a', params }] });

/** Opens a server that creates batches, and on which Ada may have one unfinished batch. */
async function open(creating?: (create: () => Promise<unknown>) => Promise<never>) {
  const { redis, prefix } = await openKeyStore();
  const report = (): void => undefined;
  const records = new FileRecords(redis, prefix, { bounds: { ownerBytes: 1e6, totalBytes: 1e6 }, report });
  const { store } = await openObjects();
  const files = new Files({ records, store, fileBytes: 1e6, fileLines: 100, log: silentLog });
  const limits = stopAfterTest(new LimitKeeper(redis, prefix, silentLog));
  const batches = new Batches(redis, prefix, { bounds: { maxOpen: 1, keepMs: hourMs }, report });
  const parts: CreateBatchParts = {
    batches: {
      assertRoom: (of) => batches.assertRoom(of),
      create: (batch) => (creating ? creating(() => batches.create(batch)) : batches.create(batch)),
      find: (...args) => batches.find(...args),
    },
    limits,
    findKnownRefusal: (parties) => limits.findKnownRefusal(parties),
    files,
    formats: clientFormats,
    readBody: () => Promise.reject(new Error('unused')),
    heldBodies: new HeldBodies(1e9, 10),
    maxLineBytes: 10_000,
    isEnding: () => false,
    bodyTimeoutMs: 10_000,
    log: silentLog,
  };
  let made = 0;
  const app = express().post('/', async (request, response) => {
    createContext(response, 'r1').sender = identityOf({ id: 'k1' });
    const wanted = { id: `batch_${(made += 1)}`, owner, api: anthropicApi, format: anthropicBatches };
    try {
      response.json((await createBatch(request, response, wanted, parts)).id);
    } catch (error) {
      response.json(error instanceof RouterError ? error.code : String(error));
    }
  });
  const url = `${await serveInTest(app)}/`;
  return {
    batches,
    url,
    create: async () => (await fetch(url, { method: 'POST', body })).json() as Promise<string>,
    inputs: async () => (await files.list(owner, { newestFirst: false, limit: 10 }))?.files.length,
  };
}

it('a batch whose requests come inline leaves no input when another batch was created meanwhile and the limit is reached', async () => {
  const { create, inputs } = await open();
  const outcomes = await Promise.all([create(), create(), create()]);
  expect(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded')).toHaveLength(2);
  expect(await inputs()).toBe(1);
});

it('a batch whose requests come inline is refused before its requests arrive when the limit is reached', async () => {
  const { create, url, inputs } = await open();
  expect(await create()).toBe('batch_1');
  const late = send(url, { method: 'POST', headers: { 'content-length': '1000000' } });
  onTestFinished(() => void late.destroy());
  late.on('error', () => undefined).write('{"requests":[');
  const [response] = (await once(late, 'response')) as [IncomingMessage];
  expect(await json(response)).toBe('rate_limit_exceeded');
  expect(await inputs()).toBe(1);
});

it('a batch whose requests come inline leaves no input when the store did not create it', async () => {
  const { create, inputs } = await open(() => Promise.reject(createStoreUnavailableError('away')));
  expect(await create()).toBe('store_unavailable');
  expect(await inputs()).toBe(0);
});

it('a batch whose requests come inline is created, and keeps its input, when only the answer of the store was lost', async () => {
  const { create, inputs, batches } = await open(async (create) => {
    await create();
    throw createStoreUnavailableError('no answer');
  });
  expect(await create()).toBe('batch_1');
  expect(await batches.countAllOpen()).toBe(1);
  expect(await inputs()).toBe(1);
});
