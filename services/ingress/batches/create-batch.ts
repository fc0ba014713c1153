import type { Request, Response } from 'express';
import type { BatchRecord, NewBatch } from '#shared/accounts/batches/batch-record.ts';
import type { Batches } from '#shared/accounts/batches/batches.ts';
import { createShuttingDownError, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import type { Files } from '#shared/files/files.ts';
import type { BatchFormat, BatchSource } from '#shared/formats/batches/batch-format.ts';
import { findBatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { countRequest } from '#shared/serving/count-request.ts';
import { beginUpload } from '../files/begin-upload.ts';
import { readArrivingBody } from '../files/read-arriving-body.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import { readRequestLines } from './read-request-lines.ts';

/** Milliseconds after which the input file of a batch with inline requests expires, unless validation has removed it earlier. */
const inputLifeMs = 7 * 24 * 3_600_000;

export interface CreateBatchParts extends Pick<
  RequestParts,
  'limits' | 'findKnownRefusal' | 'heldBodies' | 'readBody' | 'bodyTimeoutMs' | 'isEnding'
> {
  batches: Pick<Batches, 'assertRoom' | 'create' | 'find'>;
  files: Pick<Files, 'add' | 'assertRoom' | 'find' | 'delete'>;
  formats: readonly ClientFormat[];
  maxLineBytes: number;
  log: Pick<Logger, 'warn'>;
}

interface BatchRequest {
  id: string;
  owner: string;
  api: ClientApi;
  format: BatchFormat;
}

type Source<Kind extends BatchSource['kind']> = Extract<BatchSource, { kind: Kind }>;

/**
 * Creates the batch that a request describes.
 * @throws RouterError for an invalid request, a file that the owner does not have, too many batches, no room for results, or
 * `store_unavailable`
 */
export async function createBatch(
  request: Request,
  response: Response,
  batchRequest: BatchRequest,
  parts: CreateBatchParts,
): Promise<BatchRecord> {
  if (parts.isEnding()) throw createShuttingDownError();
  const { batches } = parts;
  const { source } = batchRequest.format;
  // Limits are checked before the requests are received. A batch from a file counts later: it must not count if its body repeats an earlier
  // request with the same idempotency key, which shows only once the body is read.
  if (source.kind === 'inline') await countRequest(parts, getRequestContext(response).identity);
  await batches.assertRoom(batchRequest.owner);
  // If the client has disconnected meanwhile, nothing would release the memory that is reserved for its request.
  if (response.destroyed) throw new RouterError('invalid_request', 'The upload was cut off.');
  if (source.kind === 'file')
    return batches.create(await readFileBatch(request, response, batchRequest, source, parts));
  return createWithInput(await readInlineBatch(request, response, batchRequest, source, parts), parts);
}

/** Creates a batch from inline requests. Removes the input file of the batch if the batch is not created. */
async function createWithInput(batch: NewBatch, { batches, files, log }: CreateBatchParts): Promise<BatchRecord> {
  const { id, owner, api, inputFile } = batch;
  try {
    return await batches.create(batch);
  } catch (error) {
    try {
      // Redis may have created the batch although its reply was lost.
      const created = await batches.find(owner, api, id);
      if (created) return created;
      await files.delete(owner, inputFile);
    } catch (err) {
      log.warn({ batch: id, file: inputFile, err }, 'the input of a batch that was refused may stay until it expires');
    }
    throw error;
  }
}

async function readFileBatch(
  request: Request,
  response: Response,
  { id, owner, api }: BatchRequest,
  source: Source<'file'>,
  parts: CreateBatchParts,
): Promise<NewBatch> {
  const { readBody, heldBodies, files, formats } = parts;
  const context = getRequestContext(response);
  const { id: key } = context.identity;
  const body = await readBody(request, context.reserveBody(heldBodies));
  await context.keyed?.claim(body);
  await countRequest(parts, context.identity);
  const creation = source.read(body);
  const { endpoint, path, windowMs, inputFile: shownFileId, window, metadata, outputSeconds } = creation;
  if (!findBatchFormats({ api: api.segment, path }, formats)) {
    throw new RouterError('invalid_request', `Invalid 'endpoint': ${endpoint} cannot be used in batches.`, {
      param: 'endpoint',
    });
  }
  const file = await files.find(owner, parseFileId(shownFileId) ?? '');
  if (!file) throw new RouterError('not_found', `No such File object: ${shownFileId}`, { param: 'input_file_id' });
  if (file.purpose !== 'batch') {
    throw new RouterError('invalid_request', `Invalid 'input_file_id': the purpose of the file is not 'batch'.`, {
      param: 'input_file_id',
    });
  }
  // Room is needed for every batch, because even a batch that is cancelled at once has results.
  await files.assertRoom(owner);
  const createdAt = Date.now();
  const expiresAt = createdAt + windowMs;
  const facts = { id, owner, key, api: api.segment, path, endpoint, inputFile: file.id, createdAt, expiresAt };
  return { ...facts, window, metadata, outputSeconds, total: 0 };
}

async function readInlineBatch(
  request: Request,
  response: Response,
  { id, owner, api, format }: BatchRequest,
  { field, path, windowMs }: Source<'inline'>,
  parts: CreateBatchParts,
): Promise<NewBatch> {
  const { files, maxLineBytes, bodyTimeoutMs } = parts;
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new RouterError('unsupported_encoding', 'The requests of a batch must not have a content-encoding.');
  const { id: key } = getRequestContext(response).identity;
  const { reservation, expectedBytes, signal } = beginUpload(request, response, parts);
  let total = 0;
  const onEnd = (lines: number): void => {
    total = lines;
  };
  const lines = readRequestLines(readArrivingBody(request, bodyTimeoutMs, reservation), {
    format,
    field,
    maxLineBytes,
    onEnd,
  });
  const description = {
    purpose: 'batch_input',
    name: `${id}_input.jsonl`,
    mimeType: 'application/jsonl',
    expiresAfterMs: inputLifeMs,
  };
  const file = await files.add(owner, lines, description, { signal, expectedBytes });
  const createdAt = Date.now();
  const facts = { id, owner, key, api: api.segment, path, inputFile: file.id, createdAt };
  return { ...facts, expiresAt: createdAt + windowMs, total };
}
