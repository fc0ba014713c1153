import { z } from 'zod';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { createPersonIdentity } from '#shared/accounts/people/person-identity.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { goneWorkerSchema, servedModelSchema, workerSchema } from '../contract/live.ts';
import { drainWorker } from '../live/drain-worker.ts';
import { listServedModels, markNotPermitted, type ModelFacts } from '../live/served-models.ts';
import { findLastWorkers } from '../live/last-workers.ts';
import { listWorkerFacts, toWorkerFacts } from '../live/worker-facts.ts';
import type { WorkerHistory } from '../live/worker-history.ts';
import { requireAccess } from './access.ts';
import { ApiFailure } from './api-failure.ts';
import { writeAudit, type ApiParts } from './api-parts.ts';
import { listOperation, operation, type Operation } from './operations/operation.ts';
import { byName, cutPage } from './operations/page.ts';

export interface WorkerOperationsParts extends Pick<ApiParts, 'accounts' | 'log'> {
  broker: Broker;
  workers: LiveWorkers;
  history: Pick<WorkerHistory, 'list'>;
  registry: () => Pick<Registry, 'models' | 'auto'>;
  modelFacts: ModelFacts;
}

/**
 * Returns the operations on workers and served models. Every signed-in person may see them. Only administrators may drain and undrain
 * workers.
 */
export function workerOperations(parts: WorkerOperationsParts): Operation[] {
  const { accounts, broker, workers, history, registry, modelFacts } = parts;
  return [
    listOperation({
      path: '/workers',
      id: 'listWorkers',
      subject: 'workers',
      summary: 'Lists the workers that are connected, by id.',
      scopes: ['read'],
      command: 'workers list',
      form: {
        columns: ['id', 'tier', 'pool', 'state', 'safeToStop', 'busy', 'slots', 'version', 'models', 'tools'],
        none: 'No worker is connected.',
      },
      item: workerSchema,
      handle: async (_, page) => {
        const { data, next } = cutPage(
          [...workers.workers()],
          page,
          byName('worker', ({ id }) => id),
        );
        return { data: listWorkerFacts(data, workers.pools(), performance.now()), next };
      },
    }),
    operation({
      method: 'get',
      path: '/workers/gone',
      id: 'listGoneWorkers',
      subject: 'workers',
      summary:
        'Lists the workers that have left or were lost within the last day, as far as this ingress has seen it. Newest first.',
      scopes: ['read'],
      command: 'workers gone',
      form: {
        columns: ['id', 'tier', 'host', 'goneAt', 'why', 'isBack', 'jobs', 'serves'],
        none: 'No worker has gone.',
      },
      answer: z.array(goneWorkerSchema),
      handle: async () => history.list(),
    }),
    operation({
      method: 'get',
      path: '/models',
      id: 'listModels',
      subject: 'workers',
      summary:
        'Lists the names that clients can send as `model`: `auto`, names of the registry, and models of workers.',
      scopes: ['read'],
      command: 'models list',
      form: {
        columns: [
          'id',
          'kind',
          'contextWindow',
          'servedBy.tier',
          'servedBy.workers',
          'servedBy.price',
          'servedBy.speed',
          'servedBy.unpriced',
          'operations',
        ],
        none: 'There are no models.',
      },
      answer: z.array(servedModelSchema),
      handle: async ({ actor }) => {
        const person = await accounts.users.find(actor.id);
        const models = listServedModels(workers.pools(), registry(), modelFacts);
        return person ? markNotPermitted(models, readKeyPermits(createPersonIdentity(person))) : models;
      },
    }),
    steerOperation(
      'drain',
      'Lets a worker finish its jobs and take no new jobs until it is undrained or started again.',
    ),
    steerOperation('undrain', 'Lets a drained worker take jobs again.'),
  ];

  function steerOperation(command: 'drain' | 'undrain', summary: string): Operation {
    return operation({
      method: 'post',
      path: command === 'drain' ? '/workers/{id}/drain' : '/workers/{id}/undrain',
      id: `${command}Worker`,
      subject: 'workers',
      summary,
      scopes: [],
      command: `workers ${command}`,
      ...(command === 'drain' && {
        form: {
          warning: {
            if: 'lastFor',
            sentence: 'Warning: no other worker takes requests for {lastFor}. They wait, and fail in the end.',
          },
        },
      }),
      answer: workerSchema,
      handle: async ({ actor, params: { id } }) => {
        requireAccess('worker.steer', actor);
        if (!workers.get(id)) throw new ApiFailure(404, 'not_found', `No worker ${id} is connected.`);
        const lastFor = command === 'drain' ? findLastWorkers(workers.pools()).get(id) : undefined;
        const worker = await drainWorker(broker, workers, id, command);
        if (!worker) throw new ApiFailure(504, 'worker_silent', `The worker ${id} did not answer in time.`);
        const target = { kind: 'worker', id, name: id };
        await writeAudit(parts, actor, { action: `worker.${command}`, target, details: {} });
        return toWorkerFacts(worker, performance.now(), lastFor ?? findLastWorkers(workers.pools()).get(id));
      },
    });
  }
}
