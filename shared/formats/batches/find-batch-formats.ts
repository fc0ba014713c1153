import { modelOperations, type ModelOperation } from '#shared/core/operation.ts';
import type { ClientFormat } from '../client-format.ts';
import type { BatchFormat } from './batch-format.ts';

export interface BatchFormats {
  batch: BatchFormat;
  line: ClientFormat;
  operation: ModelOperation;
}

/**
 * Operations with forms as requests or sound as answers. Batches do not support them, because the lines of a batch and their results are
 * JSON.
 */
const nonTextOperations: ReadonlySet<ModelOperation> = new Set(['redraw', 'speak', 'transcribe', 'translate']);
const batchOperations = modelOperations.filter((operation) => !nonTextOperations.has(operation));

/**
 * Returns the formats of a batch; undefined for an API or a path that this release does not serve.
 * @param api segment of the API that created the batch
 * @param path path of the lines' requests, below the API's prefixes
 */
export function findBatchFormats(
  { api, path }: { api: string; path: string },
  formats: readonly ClientFormat[],
): BatchFormats | undefined {
  for (const line of formats) {
    const operation = line.api.segment === api ? findBatchOperation(line, path) : undefined;
    if (operation && line.api.batches) return { batch: line.api.batches, line, operation };
  }
  return undefined;
}

/** Returns the operation of batch requests at a path of a format; undefined if batches cannot use the path. */
export function findBatchOperation({ routes }: Pick<ClientFormat, 'routes'>, path: string): ModelOperation | undefined {
  const route = routes.find((each) => each.path === path && !each.reshape);
  return batchOperations.find((operation) => operation === route?.operation);
}
