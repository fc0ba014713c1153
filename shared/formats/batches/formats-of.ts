import { modelOperations, type ModelOperation } from '#shared/core/operation.ts';
import type { ClientFormat } from '../client-format.ts';
import type { BatchFormat } from './batch-format.ts';

/** The formats of a batch: of the batch itself, and of its lines' requests. */
export interface BatchFormats {
  batch: BatchFormat;
  line: ClientFormat;
  /** What its lines ask of a model. */
  operation: ModelOperation;
}

/** Neither a line of a batch nor one of its results can be a form, or sound. */
const noTexts: ReadonlySet<ModelOperation> = new Set(['redraw', 'speak', 'transcribe', 'translate']);
const inBatches = modelOperations.filter((operation) => !noTexts.has(operation));

/**
 * The formats of a batch; undefined for one of an API or a path that this release does not know.
 * @param api segment of the API that it was created at
 * @param path of its lines' requests, below the API's prefixes
 */
export function formatsOf(
  { api, path }: { api: string; path: string },
  formats: readonly ClientFormat[],
): BatchFormats | undefined {
  for (const line of formats) {
    const operation = line.api.segment === api ? batchOperation(line, path) : undefined;
    if (operation && line.api.batches) return { batch: line.api.batches, line, operation };
  }
  return undefined;
}

/** What the requests of batches ask of a model at a path of a format; undefined where there are none. */
export function batchOperation({ routes }: Pick<ClientFormat, 'routes'>, path: string): ModelOperation | undefined {
  const route = routes.find((each) => each.path === path && !each.reshape);
  return inBatches.find((operation) => operation === route?.operation);
}
