import type { ClientFormat } from '../client-format.ts';
import type { BatchFormat } from './batch-format.ts';

/** The formats of a batch: of the batch itself, and of its lines' requests. */
export interface BatchFormats {
  batch: BatchFormat;
  line: ClientFormat;
}

/**
 * The formats of a batch; undefined for one of an API or a path that this release does not know.
 * @param api segment of the API that it was created at
 * @param path of its lines' requests, below the API's prefixes
 */
export function formatsOf(
  { api, path }: { api: string; path: string },
  formats: readonly ClientFormat[],
): BatchFormats | undefined {
  const line = formats.find((format) => format.api.segment === api && servesBatches(format, path));
  return line?.api.batches && { batch: line.api.batches, line };
}

/** Whether a path of a format takes requests of batches: it generates answers in the format's own shape. */
export function servesBatches({ routes }: Pick<ClientFormat, 'routes'>, path: string): boolean {
  return routes.some((route) => route.path === path && route.operation === 'generate' && !route.reshape);
}
