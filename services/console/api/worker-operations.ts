import { z } from 'zod';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { identityOfPerson } from '#shared/accounts/people/person-identity.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { goneWorkerSchema, servedModelSchema, workerSchema } from '../contract/live.ts';
import { drainWorker } from '../live/drain-worker.ts';
import { servedModels, markNotPermitted, type ModelFacts } from '../live/served-models.ts';
import { lastWorkers } from '../live/last-workers.ts';
import { allWorkerFacts, workerFacts } from '../live/worker-facts.ts';
import type { WorkerHistory } from '../live/worker-history.ts';
import { requireAccess } from './access.ts';
import { ApiFailure } from './api-failure.ts';
import { record, type ApiParts } from './api-parts.ts';
import { listOperation, operation, type Operation } from './operations/operation.ts';
import { byName, pageOf } from './operations/page.ts';

export interface WorkerOperationsParts extends Pick<ApiParts, 'accounts' | 'log'> {
  broker: Broker;
  workers: LiveWorkers;
  history: Pick<WorkerHistory, 'list'>;
  registry: () => Pick<Registry, 'models' | 'auto'>;
  known: ModelFacts;
}

/**
 * Returns the operations on workers and served models. Every signed-in person may see them. Only administrators may drain and undrain
 * workers.
 */
export function workerOperations(parts: WorkerOperationsParts): Operation[] {
  const { accounts, broker, workers, history, registry, known } = parts;
  return [
    listOperation({
      path: '/workers',
      id: 'listWorkers',
      subject: 'workers',
      summary: 'Lists the workers that are connected, by id.',
      scopes: ['read'],
      command: 'workers list',
      item: workerSchema,
      handle: async (_, page) =>
        pageOf(
          allWorkerFacts(workers, performance.now()),
          page,
          byName('worker', ({ id }) => id),
        ),
    }),
    operation({
      method: 'get',
      path: '/workers/gone',
      id: 'listGoneWorkers',
      subject: 'workers',
      summary:
        'Answers the workers that have left or were lost within a day, newest first, as this ingress has seen it.',
      scopes: ['read'],
      command: 'workers gone',
      answer: z.array(goneWorkerSchema),
      handle: async () => history.list(),
    }),
    operation({
      method: 'get',
      path: '/models',
      id: 'listModels',
      subject: 'workers',
      summary: 'Answers what clients can ask for: `auto`, names of the registry, and models of workers.',
      scopes: ['read'],
      command: 'models list',
      answer: z.array(servedModelSchema),
      handle: async ({ actor }) => {
        const person = await accounts.users.find(actor.id);
        const models = servedModels(workers.pools(), registry(), known);
        return person ? markNotPermitted(models, readKeyPermits(identityOfPerson(person))) : models;
      },
    }),
    steer('drain', 'Has a worker finish its jobs and take no new ones, until it is undrained or started again.'),
    steer('undrain', 'Has a worker that was drained take jobs again.'),
  ];

  function steer(command: 'drain' | 'undrain', summary: string): Operation {
    return operation({
      method: 'post',
      path: command === 'drain' ? '/workers/{id}/drain' : '/workers/{id}/undrain',
      id: `${command}Worker`,
      subject: 'workers',
      summary,
      scopes: [],
      command: `workers ${command}`,
      answer: workerSchema,
      handle: async ({ actor, params: { id } }) => {
        requireAccess('worker.steer', actor);
        if (!workers.get(id)) throw new ApiFailure(404, 'not_found', `No worker ${id} is connected.`);
        const lastFor = command === 'drain' ? lastWorkers(workers.pools()).get(id) : undefined;
        const worker = await drainWorker(broker, workers, id, command);
        if (!worker) throw new ApiFailure(504, 'worker_silent', `The worker ${id} did not answer in time.`);
        const target = { kind: 'worker', id, name: id };
        await record(parts, actor, { action: `worker.${command}`, target, details: {} });
        return workerFacts(worker, performance.now(), lastFor ?? lastWorkers(workers.pools()).get(id));
      },
    });
  }
}
