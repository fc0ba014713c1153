import { RouterError } from '#shared/core/errors.ts';
import { createFieldError, readWholeNumber } from '../messages/problem-error.ts';
import { defaultPageSize, findRetryTime, type BatchFacts, type BatchFormat } from './batch-format.ts';
import { readCursor, toOneLine, readLineObject } from './read-line-object.ts';

/**
 * Batches of Anthropic's API (Anthropic API reference, "Message Batches"). The body of the creation request contains the requests, and the
 * results have their own path.
 */
export const anthropicBatches: BatchFormat = {
  path: '/messages/batches',
  idPrefix: 'msgbatch_',
  source: { kind: 'inline', field: 'requests', path: '/messages', windowMs: 24 * 3_600_000 },
  maxLines: 100_000,
  hasErrorFile: false,
  hasResults: true,
  readLine(line) {
    return readLineObject(line, 'params');
  },
  toAnswerLine: (customId, _, answer) =>
    `{"custom_id":${JSON.stringify(customId)},"result":{"type":"succeeded","message":${toOneLine(answer)}}}`,
  toErrorLine: (customId, _, { body: error }) =>
    JSON.stringify({ custom_id: customId, result: { type: 'errored', error } }),
  toUnfinishedLine: (customId, _, outcome) =>
    JSON.stringify({ custom_id: customId, result: { type: outcome === 'cancelled' ? 'canceled' : 'expired' } }),
  readPage(query) {
    const [after, before] = [readCursor(query, 'after_id'), readCursor(query, 'before_id')];
    if (after !== undefined && before !== undefined)
      throw createFieldError('before_id', 'cannot be used together with after_id');
    const { limit } = query;
    return { limit: limit === undefined ? defaultPageSize : readWholeNumber('limit', limit, 1, 1_000), after, before };
  },
  show: toMessageBatch,
  list: (batches, hasMore, baseUrl) => ({
    data: batches.map((batch) => toMessageBatch(batch, baseUrl)),
    has_more: hasMore,
    first_id: batches.at(0)?.id ?? null,
    last_id: batches.at(-1)?.id ?? null,
  }),
  showRemoval: (id) => ({ id, type: 'message_batch_deleted' }),
  notFound: (id) => new RouterError('not_found', `Could not find the batch ${id}.`),
};

function toMessageBatch(batch: BatchFacts, baseUrl: string): object {
  const { id, state, total, succeeded, errored, cancelled, expired, cancelledAt } = batch;
  const hasEnded = state === 'ended' || state === 'failed';
  // Anthropic's API counts all requests as processing until the whole batch has ended.
  const counts = hasEnded
    ? { processing: 0, succeeded, errored, canceled: cancelled, expired }
    : { processing: total, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  return {
    id,
    type: 'message_batch',
    processing_status: hasEnded ? 'ended' : cancelledAt === undefined ? 'in_progress' : 'canceling',
    request_counts: counts,
    created_at: toIso(batch.createdAt),
    expires_at: toIso(batch.expiresAt),
    ended_at: toIso(batch.endedAt ?? batch.failedAt),
    cancel_initiated_at: toIso(cancelledAt),
    archived_at: null,
    results_url: state === 'ended' ? `${baseUrl}/messages/batches/${id}/results` : null,
    // Why the requests wait. Anthropic's API has no such field.
    ...(batch.pausedFor !== undefined && {
      paused: { reason: batch.pausedFor, tried_again_at: toIso(findRetryTime(batch)) },
    }),
  };
}

function toIso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
