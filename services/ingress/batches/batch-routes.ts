import { randomUUID } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import { isOver, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { Batches } from '#shared/accounts/batches/batches.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createValidationJob } from '#shared/background/batch-jobs.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Files } from '#shared/files/files.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import { sendContent } from '../files/send-content.ts';
import { refuseMethod } from '../http/answer-error.ts';
import type { KeyedHandler } from '../idempotency/handle-idempotently.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';
import { createBatch, type CreateBatchParts } from './create-batch.ts';

export interface BatchRoutesParts extends CreateBatchParts {
  jobs: Pick<BackgroundJobs, 'add'>;
  files: Pick<Files, 'add' | 'assertRoom' | 'find' | 'read' | 'delete'>;
  store: {
    /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
    assertIntact: () => void;
  };
  batches: Batches;
  unreadOutputs: UnreadOutputs;
  /** URL at which people reach the router; if undefined, the URL of each request is used. */
  publicUrl: string | undefined;
  log: Logger;
}

/**
 * Adds the batch routes of an API to a router. They serve only the batches of the key's owner, and answer `not_found` for every other
 * batch. Mount the router behind `requireKey`.
 */
export function addBatchRoutes(
  router: Router,
  api: ClientApi,
  format: BatchFormat,
  parts: BatchRoutesParts,
  handleKeyed: KeyedHandler,
): void {
  const { batches, jobs, files, log, publicUrl } = parts;
  const { path } = format;
  const findOwner = (response: Response): string => {
    parts.store.assertIntact();
    return findStoreOwner(getRequestContext(response).identity);
  };
  const findBatch = async (request: Request, response: Response): Promise<BatchRecord> => {
    const { id } = request.params;
    const batch = typeof id === 'string' ? await batches.find(findOwner(response), api.segment, id) : undefined;
    if (!batch) throw format.notFound(typeof id === 'string' ? id : '');
    return batch;
  };
  const findBaseUrl = ({ protocol, headers, baseUrl: mountPath }: Request): string =>
    `${publicUrl?.replace(/\/$/, '') ?? `${protocol}://${headers.host ?? ''}`}${mountPath}`;

  const create = handleKeyed(format.source.kind === 'file' ? 'whole' : 'arrives', async (request, response) => {
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
  const cancel = handleKeyed('unread', async (request, response) => {
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
