import { ResponseWork } from '#shared/accounts/responses/background/response-work.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { ResponseJob } from '#shared/background/response-jobs.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { openBackground } from '#shared/serving/open/open-background.ts';
import type { RunnerContext } from '../context.ts';
import { openIdentities } from '../lines/background-identities.ts';
import { maxTries, type ServingParts } from '../serving-parts.ts';
import { makeResponse, type MakeResponseParts } from './make-response.ts';
import { OwnerPlaces } from './owner-places.ts';
import { ResponseRepair } from './repair-responses.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';

/** When the runner ends, running responses get this many milliseconds to finish. Another runner starts the unfinished ones again. */
const finishMs = 5_000;

/** Largest number of bytes of events that wait in memory while the store is unreachable, for all responses together. */
const maxUnwritten = 64 * 1024 * 1024;

/** Maximum of responses that this runner makes at the same time, those of one owner up to half of them; further ones wait in the queue. */
const places = 256;

/** Starts to make responses in the background, together with all other runners. */
export function startResponses(context: RunnerContext, servingParts: ServingParts): void {
  const { prefix, serving, access, jobs, queues, heavyWork, metrics, log, releases } = context;
  const { storedRedis, storedResponses, ledger, prices } = serving;
  const { store, changes } = openBackground(context);
  const responses = new ResponseWork(storedRedis.redis, prefix, store);
  const repair = new ResponseRepair({ responses, jobs, log });
  releases.add('repair of responses', () => repair.close());
  const stopping = new AbortController();
  const parts: MakeResponseParts = {
    formats: clientFormats,
    identities: openIdentities(context),
    heavyWork,
    maxTries,
    countResponse: metrics.countResponse.bind(metrics),
    responses,
    changes,
    stored: storedResponses,
    ledger,
    stopping: stopping.signal,
    log,
    serving: { ...servingParts, priceOf: (tier, model) => prices.priceOf(tier, model) },
    ownerPlaces: new OwnerPlaces({ places, jobs, log }),
    eventBudget: new StoreQueueBudget(maxUnwritten),
  };
  const worker = new BackgroundWorker<ResponseJob>({
    access,
    queue: 'responses',
    concurrency: places,
    handle: (job) => makeResponse(parts, job),
  });
  releases.add('responses', () => void setTimeout(() => stopping.abort(), finishMs).unref());
  queues.set('responses', worker);
}
