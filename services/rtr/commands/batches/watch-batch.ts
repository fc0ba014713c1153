import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { ProgressRate } from '#shared/core/progress-rate.ts';
import { formatCount, formatDuration } from '../client/amounts.ts';
import { retryWhileUnavailable, type ClientContext } from '../client/client-context.ts';
import type { CallError } from '../client/call-error.ts';
import { toPathSegment } from '../path-segment.ts';
import { countDone, isOver, type BatchObject, type BatchStatus } from './batch-object.ts';

/** Milliseconds between two requests for the state of the batch. */
const pollMs = 2_000;

/** Maximum number of input mistakes that are shown. */
const maxProblems = 5;

const endings: Partial<Record<BatchStatus, string>> = {
  completed: 'is complete',
  expired: 'has expired',
  cancelled: 'was cancelled',
};

/**
 * `rtr batches watch <batch>`: shows the progress of a batch until it has ended; with `json`, prints the batch whenever it has changed.
 * Waits while the router restarts.
 * @throws RouterError `invalid_request` for a batch that failed, expired or was cancelled
 * @throws CallError
 */
export async function watchBatch(
  context: Pick<ClientContext, 'client' | 'bar' | 'print' | 'json'>,
  id: string,
  everyMs = pollMs,
): Promise<void> {
  const { client, bar, print, json } = context;
  let rate: ProgressRate | undefined;
  let share = 0;
  let lastPrinted = '';
  const fetchBatch = (): Promise<BatchObject> => client.call('GET', `/batches/${toPathSegment(id)}`);
  const onFailure = ({ message }: CallError): void => bar.show(share, message, message);
  try {
    for (;;) {
      const batch = await retryWhileUnavailable(fetchBatch, { pauseMs: everyMs, onFailure });
      const text = JSON.stringify(batch);
      if (json && text !== lastPrinted) {
        bar.end();
        print(text);
      }
      lastPrinted = text;
      if (isOver(batch)) {
        bar.end();
        const outcome = formatOutcome(batch);
        if (batch.status !== 'completed') throw new RouterError('invalid_request', outcome);
        if (!json) print(outcome);
        return;
      }
      const { status, paused, in_progress_at: beganAt } = batch;
      const { total } = batch.request_counts;
      const done = countDone(batch);
      if (beganAt !== null) rate ??= new ProgressRate(beganAt * 1_000);
      rate?.addSample(done);
      share = total === 0 ? 0 : done / total;
      if (!json) bar.show(share, formatProgress(batch, rate), paused?.reason ?? status);
      await sleep(everyMs);
    }
  } finally {
    bar.end();
  }
}

/** Returns a text such as `1,234 of 5,000 (24 %), 3 failed · 12 a second · about 5 min left`. */
export function formatProgress(batch: BatchObject, rate: ProgressRate | undefined, now = Date.now()): string {
  const { total, failed } = batch.request_counts;
  if (total === 0) return batch.status.replace('_', ' ');
  const done = countDone(batch);
  const failures = failed > 0 ? `, ${formatCount(failed)} failed` : '';
  const numbers = `${formatCount(done)} of ${formatCount(total)} (${Math.floor((done / total) * 100)} %)${failures}`;
  if (batch.status !== 'in_progress') return `${numbers} · ${batch.status}`;
  if (batch.paused) return `${numbers} · waits: ${batch.paused.reason}`;
  const endsAt = rate?.estimateEnd(total);
  if (rate?.text === undefined || endsAt === undefined) return numbers;
  const left = `about ${formatDuration(endsAt - now)} left`;
  const expiresAt = (batch.expires_at ?? Infinity) * 1_000;
  const warning = endsAt > expiresAt ? `, but it expires in ${formatDuration(expiresAt - now)}` : '';
  return `${numbers} · ${rate.text} · ${left}${warning}`;
}

/** Describes the outcome of a batch that has ended, in one or more sentences. */
export function formatOutcome(batch: BatchObject): string {
  const { id, status, request_counts: counts, usage, errors } = batch;
  if (status === 'failed') {
    const problems = (errors?.data ?? []).map(({ line, message }) =>
      line === null ? message : `line ${line}: ${message}`,
    );
    const more = problems.length > maxProblems ? [`… and ${problems.length - maxProblems} more`] : [];
    return [
      `Batch ${id} has failed, and none of its requests was run:`,
      ...problems.slice(0, maxProblems),
      ...more,
    ].join('\n');
  }
  const tokens = usage ? `, ${formatCount(usage.input_tokens + usage.output_tokens)} tokens` : '';
  const numbers = `${formatCount(counts.completed)} of ${formatCount(counts.total)} answered, ${formatCount(counts.failed)} failed${tokens}`;
  const hasFiles = batch.output_file_id !== null || batch.error_file_id !== null;
  const lost = (errors?.data ?? []).map(({ message }) => ` ${message}`).join('');
  return `Batch ${id} ${endings[status] ?? status}: ${numbers}.${lost}${hasFiles ? ` Fetch the results with: rtr batches download ${id}` : ''}`;
}
