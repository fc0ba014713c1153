import { randomUUID } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import { storeOwnerOf } from '#shared/accounts/keys/key-record.ts';
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
import type { KeyedHandler } from '../idempotency/idempotent.ts';
import { identityOf } from '../http/require-key.ts';
import { createBatch, type CreateBatchParts } from './create-batch.ts';

export interface BatchRoutesParts extends CreateBatchParts {
  jobs: Pick<BackgroundJobs, 'add'>;
  files: Pick<Files, 'add' | 'assertRoom' | 'find' | 'read' | 'delete'>;
  store: {
    /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
    assertIntact: () => void;
  };
  batches: Batches;
  /** URL at which people reach the router; if undefined, that of each request is used. */
  publicUrl: string | undefined;
  log: Logger;
}

/**
 * Adds the batch routes of an API to a router. They serve the batches of the key's owner only; for other batches, they answer that there is
 * no such batch. Mount the router behind `requireKey`.
 */
export function addBatchRoutes(
  router: Router,
  api: ClientApi,
  shape: BatchFormat,
  parts: BatchRoutesParts,
  keyed: KeyedHandler,
): void {
  const { batches, jobs, files, log, publicUrl } = parts;
  const { path } = shape;
  const owned = (response: Response): string => {
    parts.store.assertIntact();
    return storeOwnerOf(identityOf(response));
  };
  const find = async (request: Request, response: Response): Promise<BatchRecord> => {
    const { id } = request.params;
    const batch = typeof id === 'string' ? await batches.find(owned(response), api.segment, id) : undefined;
    if (!batch) throw shape.notFound(typeof id === 'string' ? id : '');
    return batch;
  };
  const baseUrl = ({ protocol, headers, baseUrl: at }: Request): string =>
    `${publicUrl?.replace(/\/$/, '') ?? `${protocol}://${headers.host ?? ''}`}${at}`;

  const create = keyed(shape.source.kind === 'file' ? 'whole' : 'arrives', async (request, response) => {
    const id = `${shape.idPrefix}${randomUUID().replaceAll('-', '')}`;
    const batch = await createBatch(request, response, { id, owner: owned(response), api, shape }, parts);
    // If this fails, the repair of the queue adds the job within a minute.
    await jobs
      .add(createValidationJob(id))
      .catch((error: unknown) => log.warn({ batch: id, err: error }, 'a batch waits'));
    response.json(shape.show(batch, baseUrl(request)));
  });
  router.post(path, create);
  router.get(path, async (request, response) => {
    const pageRequest = shape.readPage(request.query);
    const page = await batches.list(owned(response), api.segment, pageRequest);
    if (!page) throw shape.notFound(pageRequest.after ?? pageRequest.before ?? '');
    response.json(shape.list(page.batches, page.hasMore, baseUrl(request)));
  });
  router.all(path, refuseMethod('GET', 'HEAD', 'POST'));

  const one = `${path}/:id`;
  router.get(one, async (request, response) => {
    response.json(shape.show(await find(request, response), baseUrl(request)));
  });
  const cancel = keyed('unread', async (request, response) => {
    const { id } = await find(request, response);
    await batches.cancel(id);
    response.json(shape.show(await find(request, response), baseUrl(request)));
  });
  router.post(`${one}/cancel`, cancel);
  router.all(`${one}/cancel`, refuseMethod('POST'));
  if (!shape.hasResults) {
    router.all(one, refuseMethod('GET', 'HEAD'));
    return;
  }
  router.delete(one, async (request, response) => {
    const batch = await find(request, response);
    if (!isOver(batch) || !(await batches.delete(batch.id))) {
      const message = `The batch ${batch.id} has not ended: cancel it, and wait until it has.`;
      throw new RouterError('invalid_request', message);
    }
    if (batch.outputFile !== undefined) await files.delete(batch.owner, batch.outputFile);
    response.json(shape.showRemoval(batch.id));
  });
  router.all(one, refuseMethod('GET', 'HEAD', 'DELETE'));
  router.get(`${one}/results`, async (request, response) => {
    const { id, owner, outputFile } = await find(request, response);
    const file = outputFile === undefined ? undefined : await files.find(owner, outputFile);
    if (!file) throw new RouterError('not_found', `The batch ${id} has no results, or not yet.`);
    const read: Parameters<typeof sendContent>[2]['read'] = (range, signal) => files.read(file, range, signal);
    await sendContent(request, response, { file, read, timeoutMs: parts.bodyTimeoutMs });
  });
  router.all(`${one}/results`, refuseMethod('GET', 'HEAD'));
}
