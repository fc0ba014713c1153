import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import { localFileError, type ClientContext } from '../client/client-context.ts';
import { fetchFile } from '../client/fetch-file.ts';
import { isOver, type BatchObject } from './batch-object.ts';

/**
 * `rtr batches download <batch> [--out <folder>]`: writes the results into `<batch>_output.jsonl` and `<batch>_errors.jsonl`, as far as
 * there are any; with `json`, prints their paths.
 * @throws RouterError `invalid_request` for a batch that is not over or has no results, or a CallError
 */
export async function downloadBatch(context: ClientContext, id: string, { out }: { out: string }): Promise<void> {
  const { client, print, json } = context;
  const batch = await client.call<BatchObject>('GET', `/batches/${encodeURIComponent(id)}`);
  if (!isOver(batch)) throw new RouterError('invalid_request', `Batch ${id} is not over yet: it is ${batch.status}.`);
  const sides = { output: batch.output_file_id, errors: batch.error_file_id };
  await mkdir(out, { recursive: true }).catch((error: unknown) => {
    throw localFileError(out, error);
  });
  const written: { output?: string; errors?: string } = {};
  for (const side of ['output', 'errors'] as const) {
    const file = sides[side];
    if (file === null) continue;
    const path = join(out, `${batch.id}_${side}.jsonl`);
    await fetchFile(context, file, path);
    written[side] = path;
    if (!json) print(`${side === 'output' ? 'Answers' : 'Errors'}: ${path}`);
  }
  if (Object.keys(written).length === 0) throw new RouterError('invalid_request', `Batch ${id} has no results.`);
  if (json) print(JSON.stringify(written));
}
