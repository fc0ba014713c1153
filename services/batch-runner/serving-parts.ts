import { Hedges } from '#shared/serving/hedging/hedges.ts';
import type { PrepareComponents } from '#shared/serving/prepare-request.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { AnswerBudget, computeAnswerBudget } from './answer-memory.ts';
import type { RunnerContext } from './context.ts';
import { computeRequestBudget, RequestBudget } from './request-memory.ts';

/** Maximum number of executions of a request if each of them ends with an error of the request itself. */
export const maxTries = 3;

/** The parts with which lines of batches and responses in the background are served. */
export interface ServingParts extends PrepareComponents, Omit<ServingComponents, 'record' | 'priceOf'> {
  /** Memory budget for requests and everything that they refer to. */
  requestBudget: RequestBudget;
  /** Memory budget for large answers. */
  answerBudget: AnswerBudget;
}

export function createServingParts({ config, serving }: RunnerContext): ServingParts {
  const { dispatcher, workers, registry, store, limits, ownerKeys, storedResponses, files } = serving;
  const memory = process.constrainedMemory();
  return {
    dispatcher,
    workers,
    registry: () => registry.current(),
    limits: {
      reserve: (parties, amount) => {
        store.assertIntact();
        return limits.reserve(parties, amount);
      },
    },
    hedges: new Hedges(),
    ownerKeys,
    noWorkerMs: config.NO_WORKER_TIMEOUT_MS,
    answers: {
      responses: storedResponses,
      storesAnswers: config.RESPONSES_KEEP_HOURS > 0,
      assertIntact: () => store.assertIntact(),
    },
    inputFiles: { files, maxBytes: config.MAX_BODY_BYTES, store },
    requestBudget: new RequestBudget(computeRequestBudget(config.MAX_BODY_BYTES, memory)),
    answerBudget: new AnswerBudget(computeAnswerBudget(memory)),
  };
}
