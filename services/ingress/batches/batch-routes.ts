import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler, Response, Router } from 'express';
import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import { isOver, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { batchBounds, Batches } from '#shared/accounts/batches/batches.ts';
import { createValidationJob } from '#shared/background/batch-jobs.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { IngressContext } from '../context.ts';
import { sendContent } from '../files/send-content.ts';
import { refuseMethod } from '../http/answer-error.ts';
import type { HandleKeyed } from '../idempotency/handle-idempotently.ts';
import type { AnsweringHandler, KeyedRoute } from '../idempotency/keyed-request.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import type { AddApiRoutes } from '../routing/api-routes.ts';
import { createBatch } from './create-batch.ts';

/** Opens the store of batches. */
export function openBatches({ prefix, serving: { redis, reportUnreadable } }: IngressContext): Batches {
  return new Batches(redis.redis, prefix, {
    bounds: batchBounds,
    report: reportUnreadable,
  });
}

/**
 * Creates the batch routes of the APIs. They serve only the batches of the key's owner, and answer `not_found` for every other batch.
 */
export function createBatchRoutes(
  { config, serving: { files, store }, jobs, log }: IngressContext,
  requests: RequestParts,
  batches: Batches,
  handleKeyed: HandleKeyed,
): AddApiRoutes {
  const parts = { ...requests, batches, files, formats: clientFormats, maxLineBytes: config.MAX_BODY_BYTES };
  return (routes, api, [first]) => {
    if (api.batches) addBatchRoutes(routes, api, api.batches, (body, handler) => handleKeyed(first, body, handler));
  };

  function addBatchRoutes(
    router: Router,
    api: ClientApi,
    format: BatchFormat,
    handle: (body: KeyedRoute['body'], handler: AnsweringHandler) => RequestHandler,
  ): void {
    const { path } = format;
    const findOwner = (response: Response): string => {
      store.assertIntact();
      return findStoreOwner(getRequestContext(response).identity);
    };
    const findBatch = async (request: Request, response: Response): Promise<BatchRecord> => {
      const { id } = request.params;
      const batch = typeof id === 'string' ? await batches.find(findOwner(response), api.segment, id) : undefined;
      if (!batch) throw format.notFound(typeof id === 'string' ? id : '');
      return batch;
    };
    const findBaseUrl = ({ protocol, headers, baseUrl: mountPath }: Request): string =>
      `${config.PUBLIC_URL?.replace(/\/$/, '') ?? `${protocol}://${headers.host ?? ''}`}${mountPath}`;

    const create = handle(format.source.kind === 'file' ? 'whole' : 'arrives', async (request, response) => {
      const id = `${format.idPrefix}${randomUUID().replaceAll('-', '')}`;
      const batch = await createBatch(request, response, { id, owner: findOwner(response), api, format }, parts);
      // If this fails, the repair of the queue adds the job within a minute.
      await jobs
        .add(createValidationJob(id))
        .catch((error: unknown) => log.warn({ batch: id, err: error }, 'a batch has no job yet'));
      response.json(format.show(batch, findBaseUrl(request)));
    });
    router.post(path, create);
    router.get(path, async (request, response) => {
      const pageRequest = format.readPage(request.query);
      const page = await batches.list(findOwner(response), api.segment, pageRequest);
      if (!page) throw format.notFound(pageRequest.after ?? pageRequest.before ?? '');
      response.json(format.list(page.batches, page.hasMore, findBaseUrl(request)));
    });
    router.all(path, refuseMethod('GET', 'HEAD', 'POST'));

    const batchPath = `${path}/:id`;
    router.get(batchPath, async (request, response) => {
      response.json(format.show(await findBatch(request, response), findBaseUrl(request)));
    });
    const cancel = handle('unread', async (request, response) => {
      const { id } = await findBatch(request, response);
      await batches.cancel(id);
      response.json(format.show(await findBatch(request, response), findBaseUrl(request)));
    });
    router.post(`${batchPath}/cancel`, cancel);
    router.all(`${batchPath}/cancel`, refuseMethod('POST'));
    if (!format.hasResults) {
      router.all(batchPath, refuseMethod('GET', 'HEAD'));
      return;
    }
    router.delete(batchPath, async (request, response) => {
      const batch = await findBatch(request, response);
      if (!isOver(batch) || !(await batches.delete(batch.id))) {
        const message = `The batch ${batch.id} has not ended: cancel it, and wait until it has.`;
        throw new RouterError('invalid_request', message);
      }
      if (batch.outputFile !== undefined) await files.delete(batch.owner, batch.outputFile);
      response.json(format.showRemoval(batch.id));
    });
    router.all(batchPath, refuseMethod('GET', 'HEAD', 'DELETE'));
    router.get(`${batchPath}/results`, async (request, response) => {
      const { id, owner, outputFile } = await findBatch(request, response);
      const file = outputFile === undefined ? undefined : await files.find(owner, outputFile);
      if (!file) throw new RouterError('not_found', `The batch ${id} has no results yet, or its results were deleted.`);
      await sendContent(request, response, file, parts);
    });
    router.all(`${batchPath}/results`, refuseMethod('GET', 'HEAD'));
  }
}
