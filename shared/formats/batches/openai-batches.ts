import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { parseJsonBody } from '../json-request.ts';
import { findFirstProblem } from '../validation/find-first-problem.ts';
import { createFieldError, readWholeNumber, createProblemError } from '../openai/problem-error.ts';
import { openaiFiles } from '../openai/openai-files.ts';
import {
  defaultPageSize,
  findRetryTime,
  type BatchCreation,
  type BatchFacts,
  type BatchFormat,
} from './batch-format.ts';
import { readCursor, toOneLine, readLineObject } from './read-line-object.ts';

const hourMs = 3_600_000;

/** The longest completion window, in hours. */
const maxHours = 168;

const creationSchema = z.object({
  input_file_id: z.string().min(1),
  endpoint: z.string().min(1),
  completion_window: z.string(),
  metadata: z.record(z.string(), z.string()).nullish(),
  output_expires_after: z.object({ anchor: z.literal('created_at'), seconds: z.number().int() }).nullish(),
});

/** Batches of OpenAI's API (OpenAI API reference, "Batch"), which read their input from a file and write results to files. */
export const openaiBatches: BatchFormat = {
  path: '/batches',
  idPrefix: 'batch_',
  source: { kind: 'file', read: readCreation },
  maxLines: 50_000,
  hasErrorFile: true,
  hasResults: false,
  readLine(line, endpoint) {
    const { object, customId, request } = readLineObject(line, 'body');
    const { method, url } = object;
    if (method !== 'POST') throw createFieldError('method', 'must be POST');
    if (url !== endpoint) throw createFieldError('url', `must be ${String(endpoint)}, the endpoint of the batch`);
    return { customId, request };
  },
  toAnswerLine: (customId, requestId, answer) =>
    `${beginLine(customId, requestId)},"response":{"status_code":200,"request_id":${JSON.stringify(requestId)},"body":${toOneLine(answer)}},"error":null}`,
  toErrorLine: (customId, requestId, { status, body }) => {
    const response = JSON.stringify({ status_code: status, request_id: requestId, body });
    return `${beginLine(customId, requestId)},"response":${response},"error":null}`;
  },
  toUnfinishedLine: (customId, requestId, outcome) =>
    `${beginLine(customId, requestId)},"response":null,"error":${JSON.stringify(unfinishedErrors[outcome])}}`,
  readPage: ({ limit, ...query }) => ({
    limit: limit === undefined ? defaultPageSize : readWholeNumber('limit', limit, 1, 100),
    after: readCursor(query, 'after'),
  }),
  show: toBatchObject,
  list: (batches, hasMore) => ({
    object: 'list',
    data: batches.map(toBatchObject),
    first_id: batches.at(0)?.id ?? null,
    last_id: batches.at(-1)?.id ?? null,
    has_more: hasMore,
  }),
  showRemoval: (id) => ({ id, object: 'batch', deleted: true }),
  notFound: (id) => new RouterError('not_found', `No batch found with id '${id}'.`),
};

const unfinishedErrors = {
  cancelled: { code: 'batch_cancelled', message: 'This request was not run because the batch was cancelled.' },
  expired: { code: 'batch_expired', message: 'This request could not be run before the completion window expired.' },
};

function beginLine(customId: string, requestId: string): string {
  return `{"id":${JSON.stringify(`batch_req_${requestId}`)},"custom_id":${JSON.stringify(customId)}`;
}

function readCreation(body: Buffer): BatchCreation {
  const parsed = parseJsonBody(body);
  const parsedCreation = creationSchema.safeParse(parsed);
  if (!parsedCreation.success) throw createProblemError(findFirstProblem(parsedCreation.error, parsed));
  const {
    input_file_id: inputFile,
    endpoint,
    completion_window: window,
    metadata,
    output_expires_after: outputExpiry,
  } = parsedCreation.data;
  const hours = Number(/^([1-9]\d{0,2})h$/.exec(window)?.[1] ?? 0);
  if (hours < 1 || hours > maxHours)
    throw createFieldError('completion_window', `must be a number of hours from 1h to ${maxHours}h, such as 24h`);
  const seconds = outputExpiry?.seconds;
  if (seconds !== undefined && (seconds < 3_600 || seconds > 2_592_000))
    throw createFieldError('output_expires_after.seconds', 'must be from 3600 to 2592000');
  return {
    endpoint,
    path: endpoint.replace(/^\/v1(?=\/)/, ''),
    inputFile,
    window,
    windowMs: hours * hourMs,
    metadata: checkMetadata(metadata ?? undefined),
    outputSeconds: seconds,
  };
}

/**
 * Returns the metadata if it is within the API's bounds: at most 16 pairs, with names of at most 64 characters and values of at most 512.
 * @throws RouterError `invalid_request`
 */
function checkMetadata(metadata: Record<string, string> | undefined): Record<string, string> | undefined {
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length > 16) throw createFieldError('metadata', 'may have 16 pairs at most');
  if (pairs.some(([name, value]) => name.length > 64 || value.length > 512))
    throw createFieldError('metadata', 'may have names of 64 characters and values of 512 at most');
  return pairs.length === 0 ? undefined : metadata;
}

function toBatchObject(batch: BatchFacts): object {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens, problems } = batch;
  const status = toStatus(batch);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model,
    errors: problems && {
      object: 'list',
      data: problems.map(({ code, message, line = null, param = null }) => ({ code, message, line, param })),
    },
    input_file_id: openaiFiles.shownId(batch.inputFile),
    completion_window: batch.window,
    status,
    output_file_id: batch.outputFile === undefined ? null : openaiFiles.shownId(batch.outputFile),
    error_file_id: batch.errorFile === undefined ? null : openaiFiles.shownId(batch.errorFile),
    created_at: toSeconds(batch.createdAt),
    in_progress_at: toSeconds(batch.runningAt),
    expires_at: toSeconds(batch.expiresAt),
    finalizing_at: toSeconds(batch.finishingAt),
    completed_at: status === 'completed' ? toSeconds(batch.endedAt) : null,
    failed_at: toSeconds(batch.failedAt),
    expired_at: status === 'expired' ? toSeconds(batch.endedAt) : null,
    cancelling_at: toSeconds(batch.cancelledAt),
    cancelled_at: status === 'cancelled' ? toSeconds(batch.endedAt) : null,
    request_counts: { total: batch.total, completed: batch.succeeded, failed: batch.errored },
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: promptTokens + completionTokens,
    },
    metadata: batch.metadata ?? null,
    // Why the lines wait. OpenAI's API has no such field.
    ...(batch.pausedFor !== undefined && {
      paused: { reason: batch.pausedFor, tried_again_at: toSeconds(findRetryTime(batch)) },
    }),
  };
}

function toStatus({ state, cancelledAt, expired }: BatchFacts): string {
  switch (state) {
    case 'failed':
      return 'failed';
    case 'ended':
      if (cancelledAt !== undefined) return 'cancelled';
      return expired > 0 ? 'expired' : 'completed';
    case 'validating':
      return cancelledAt === undefined ? 'validating' : 'cancelling';
    case 'running':
      return cancelledAt === undefined ? 'in_progress' : 'cancelling';
    case 'finishing':
      return cancelledAt === undefined ? 'finalizing' : 'cancelling';
  }
}

function toSeconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.floor(ms / 1000);
}
