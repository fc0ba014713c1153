import type { Batch } from '../../../contract/batches.ts';
import { ProgressRate } from '#shared/core/progress-rate.ts';
import { formatAgo, formatCount } from '../../parts/format.ts';

export interface StateLabel {
  word: string;
  color: string;
}

export function describeState(batch: Batch): StateLabel {
  const { state, cancelledAt, paused, expired } = batch;
  if (state === 'failed') return { word: 'Failed', color: 'red' };
  if (state === 'ended') {
    if (cancelledAt !== undefined) return { word: 'Cancelled', color: 'gray' };
    return expired > 0 ? { word: 'Expired', color: 'orange' } : { word: 'Complete', color: 'green' };
  }
  if (cancelledAt !== undefined) return { word: 'Cancelling', color: 'gray' };
  if (state === 'validating') return { word: 'Checking', color: 'blue' };
  if (state === 'finishing') return { word: 'Finishing', color: 'blue' };
  return paused ? { word: 'Waiting', color: 'orange' } : { word: 'Running', color: 'blue' };
}

export function hasEnded({ state }: Pick<Batch, 'state'>): boolean {
  return state === 'ended' || state === 'failed';
}

/** Returns the number of lines that ended with an answer or an error. */
export function countDone({ succeeded, errored }: Batch): number {
  return succeeded + errored;
}

/** Returns how many lines ended in each way, for example `8 of 200, 1 failed, 192 cancelled`. */
export function describeCounts(batch: Batch): string {
  const { state, total, errored, cancelled, expired } = batch;
  if (total === 0) return state === 'failed' ? 'no request was run' : 'not counted yet';
  const endings = Object.entries({ failed: errored, cancelled, expired });
  const endingTexts = endings.flatMap(([word, count]) => (count > 0 ? [`${formatCount(count)} ${word}`] : []));
  return [`${formatCount(countDone(batch))} of ${formatCount(total)}`, ...endingTexts].join(', ');
}

/** Measures the rates of batches from successive fetches. */
export class BatchRates {
  readonly #rates = new Map<string, ProgressRate>();

  /**
   * Adds a fetched batch to the measurement, and returns the rate of the batch; undefined if the batch is not running.
   * @param answeredAt the time of the API's answer, in ms since 1970
   */
  measure(batch: Batch, answeredAt: number): ProgressRate | undefined {
    const { id, state, runningAt } = batch;
    if (state !== 'running') {
      this.#rates.delete(id);
      return undefined;
    }
    const rate = this.#rates.get(id) ?? new ProgressRate(runningAt);
    this.#rates.set(id, rate);
    rate.addSample(countDone(batch), answeredAt);
    return rate;
  }
}

/**
 * Describes the rate and the expected end of a batch, for example `12 a second · ends in 5 minutes`, or why the batch has no rate.
 * Returns an empty string for a batch that has ended or is being cancelled.
 * @param now in ms since 1970
 */
export function describeRate(batch: Batch, rate: ProgressRate | undefined, now: number): string {
  const { state, cancelledAt, paused, total, expiresAt } = batch;
  if (state === 'validating') return 'its input is being checked';
  if (state === 'finishing') return 'its results are being written';
  if (state !== 'running' || cancelledAt !== undefined) return '';
  if (paused) return paused.reason;
  if (countDone(batch) === 0) return 'no request has ended yet';
  const endsAt = rate?.estimateEnd(total);
  if (rate?.text === undefined || endsAt === undefined) return 'no request has ended lately';
  const warning = endsAt > expiresAt ? `, but expires ${formatAgo(expiresAt, now)}` : '';
  return `${rate.text} · ends ${formatAgo(endsAt, now)}${warning}`;
}
