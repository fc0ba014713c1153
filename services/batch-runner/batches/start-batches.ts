import { batchBounds } from '#shared/accounts/batches/batches.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { BatchJob, SliceJob } from '#shared/background/batch-jobs.ts';
import { LiveTicketWatcher } from '#shared/broker/dispatch/queue/live-ticket-watcher.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import type { RunnerContext } from '../context.ts';
import { openIdentities } from '../lines/background-identities.ts';
import { RefusedLines } from '../lines/refused-lines.ts';
import { scalePrices } from '../lines/scale-prices.ts';
import { maxTries, type ServingParts } from '../serving-parts.ts';
import { LineSlots } from '../slots/line-slots.ts';
import { ModelBreakers } from '../slots/model-breakers.ts';
import { ParkedBatches } from '../slots/parked-batches.ts';
import { WaitingWork } from '../slots/waiting-work.ts';
import type { BatchDependencies } from './batch-dependencies.ts';
import { finishBatch } from './finish-batch.ts';
import { runSlice, type RunSliceParts } from './run-slice.ts';
import { RunningLines } from './running-lines.ts';
import { validateBatch } from './validate-batch.ts';

/** Largest number of concurrent validations, and of concurrent endings. Both stream files and wait for the store. */
const filesAtOnce = 2;

/** Largest number of concurrent slices of batches, of up to 100 requests each, and of requests of batches, however many slots are free. */
const [slicesAtOnce, maxLines] = [8, 256];

/** Milliseconds for which a slot is left to live requests after one of them has taken it from a batch. */
const yieldMs = 10_000;

/**
 * Starts to work on batches, together with all other runners.
 * @param stopping aborts when the runner stops
 */
export function startBatches(context: RunnerContext, servingParts: ServingParts, stopping: AbortSignal) {
  const { id, config, prefix, serving, access, jobs, queues, heavyWork, metrics, log, releases } = context;
  const { redis, broker, workers, dispatcher, files, objects, ledger, prices, ownerKeys, storedResponses } = serving;
  const batches = new BatchWork(redis.redis, prefix, { report: serving.reportUnreadable });
  const slots = new LineSlots({ dispatcher, maxLines, yieldMs });
  workers.onChange(() => slots.notifyChange());
  const tickets = new LiveTicketWatcher(broker, workers, (pool) => slots.makeRoom(pool));
  releases.add('live tickets', () => tickets.close());
  const waitingWork = new WaitingWork(broker, id, dispatcher);
  releases.add('waiting work', () => waitingWork.close());
  const parked = new ParkedBatches({ batches, jobs, slots, waitingWork, atOnce: slicesAtOnce, log });
  releases.add('parked batches', () => parked.close());
  const parts: BatchDependencies = {
    batches,
    jobs,
    objects,
    files,
    formats: clientFormats,
    isKnownModel: (model) => model !== undefined && workers.isKnownModel(model),
    resultsKeptMs: batchBounds.keepMs,
    maxLineBytes: config.MAX_BODY_BYTES,
    heavyWork,
    log,
  };
  const sliceParts: RunSliceParts = {
    ...parts,
    files,
    parked,
    runningLines: new RunningLines(),
    identities: openIdentities(context, 'low'),
    ledger,
    ownerKeys,
    stopping,
    countLine: metrics.countLine.bind(metrics),
    lineParts: {
      ...servingParts,
      priceOf: scalePrices((tier, model) => prices.priceOf(tier, model), config.BATCH_PRICE_FACTOR),
      slots,
      breakers: new ModelBreakers(),
      refusedLines: new RefusedLines(),
      waitingWork,
      storer: new AnswerStorer(storedResponses, log),
      maxTries,
      log,
    },
  };
  const validations = { access, queue: 'batch-validations', concurrency: filesAtOnce } as const;
  const slices = { access, queue: 'batch-slices', concurrency: slicesAtOnce } as const;
  const endings = { access, queue: 'batch-endings', concurrency: filesAtOnce } as const;
  queues
    .set(
      'batch-validations',
      new BackgroundWorker<BatchJob>({ ...validations, handle: (job) => validateBatch(parts, job) }),
    )
    .set('batch-slices', new BackgroundWorker<SliceJob>({ ...slices, handle: (job) => runSlice(sliceParts, job) }))
    .set('batch-endings', new BackgroundWorker<BatchJob>({ ...endings, handle: (job) => finishBatch(parts, job) }));
  return { batches, slots };
}
