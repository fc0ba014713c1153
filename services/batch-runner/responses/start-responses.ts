import { ResponseWork } from '#shared/accounts/background-responses/response-work.ts';
import type { BackgroundAccess } from '#shared/background/background-access.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, type QueueWorker } from '#shared/background/background-worker.ts';
import type { ResponseJob } from '#shared/background/response-jobs.ts';
import type { Releases } from '#shared/core/release.ts';
import { openBackground, type OpenBackgroundOptions } from '#shared/serving/open/open-background.ts';
import type { ServingResources } from '#shared/serving/open/open-serving.ts';
import { makeResponse, type MakeResponseParts } from './make-response.ts';
import { OwnerPlaces } from './owner-places.ts';
import { ResponseRepair } from './repair-responses.ts';
import { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import type { ServeRunParts } from './serve-run.ts';

/** When the runner ends, running responses get this many milliseconds to finish. Another runner starts the unfinished ones again. */
const finishMs = 5_000;

/** Largest number of bytes of events that wait in memory while the store is unreachable, for all responses together. */
const maxUnwritten = 64 * 1024 * 1024;

/** Maximum of responses that this runner makes at the same time, those of one owner up to half of them; further ones wait in the queue. */
const places = 256;

export interface StartResponsesParts extends Pick<
  MakeResponseParts,
  'formats' | 'identities' | 'heavyWork' | 'maxTries' | 'countResponse' | 'log'
> {
  serving: Omit<ServeRunParts, 'record'>;
  config: OpenBackgroundOptions['config'];
  name: string;
  stores: Pick<ServingResources, 'storedRedis' | 'storedResponses' | 'ledger' | 'ownerKeys' | 'reportUnreadable'>;
  access: BackgroundAccess;
  jobs: Pick<BackgroundJobs, 'add' | 'tryNow'>;
  log: OpenBackgroundOptions['log'];
  releases: Releases;
}

/**
 * Starts to make responses in the background, together with all other runners.
 * @returns the worker of the queue, which the caller closes together with the workers of other queues
 */
export function startResponses({
  config,
  name,
  stores,
  access,
  jobs,
  serving,
  releases,
  log,
  ...makeParts
}: StartResponsesParts): QueueWorker {
  const { store, changes } = openBackground({ config, serving: stores, name, log, releases });
  const { storedRedis, storedResponses, ledger } = stores;
  const responses = new ResponseWork(storedRedis.redis, `${config.RTR_PREFIX}:`, store);
  const repair = new ResponseRepair({ responses, jobs, log });
  releases.add('repair of responses', () => repair.close());
  const stopping = new AbortController();
  const parts: MakeResponseParts = {
    ...makeParts,
    responses,
    changes,
    stored: storedResponses,
    ledger,
    stopping: stopping.signal,
    log,
    serving,
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
  return worker;
}
