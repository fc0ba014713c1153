import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import { readLines } from '#shared/formats/batches/read-lines.ts';
import { toLocalFileError, type ClientContext } from '../client/client-context.ts';
import { readContent, fetchFile } from '../client/fetch-file.ts';
import { CallError } from '../client/call-error.ts';
import { standardStream, findWriteTarget, type WriteTarget } from '../client/write-target.ts';
import { toPathSegment } from '../path-segment.ts';
import { isOver, type BatchObject } from './batch-object.ts';

const resultNames = { output: 'Answers', errors: 'Errors' } as const;

interface ResultFile {
  kind: 'output' | 'errors';
  file: string;
}

/**
 * `rtr batches download <batch> [--out <folder>] [--force]`: writes the results that exist into `<batch>_output.jsonl` and
 * `<batch>_errors.jsonl`, and prints their paths. With `--out -`, prints the answers and then the errors.
 * @throws RouterError `invalid_request` for an unfinished batch, for a batch without results, or if a file already exists
 * @throws CallError
 */
export async function downloadBatch(
  context: ClientContext,
  id: string,
  { out, force = false }: { out: string; force?: boolean },
): Promise<void> {
  const { client } = context;
  const batch = await client.call<BatchObject>('GET', `/batches/${toPathSegment(id)}`);
  if (!isOver(batch)) throw new RouterError('invalid_request', `Batch ${id} is not over yet: it is ${batch.status}.`);
  const { output_file_id: output, error_file_id: errors } = batch;
  const results: ResultFile[] = [];
  if (output !== null) results.push({ kind: 'output', file: output });
  if (errors !== null) results.push({ kind: 'errors', file: errors });
  if (results.length === 0) throw new RouterError('invalid_request', `Batch ${id} has no results.`);
  if (out === standardStream) await printResults(context, batch.id, results);
  else await writeResults(context, batch.id, results, { out, force });
}

async function printResults(
  { client, print }: ClientContext,
  id: string,
  results: readonly ResultFile[],
): Promise<void> {
  await forEachResult(id, results, async ({ file }) => {
    const { content } = await client.open(`/files/${toPathSegment(file)}/content`);
    for await (const { bytes } of readLines(readContent(file, content), Infinity)) print(bytes.toString());
  });
}

async function writeResults(
  context: ClientContext,
  id: string,
  results: readonly ResultFile[],
  { out, force }: { out: string; force: boolean },
): Promise<void> {
  const { print, json } = context;
  await mkdir(out, { recursive: true }).catch((error: unknown) => {
    throw toLocalFileError(out, error);
  });
  const hint = 'name another folder with --out, or replace it with --force.';
  // Both paths are checked before the first download, because one file alone would look like all results.
  const targets = new Map<ResultFile, { path: string; target: WriteTarget }>();
  for (const result of results) {
    const path = join(out, `${id}_${result.kind}.jsonl`);
    targets.set(result, { path, target: await findWriteTarget(path, { force, hint }) });
  }
  const written: Partial<Record<ResultFile['kind'], string>> = {};
  try {
    await forEachResult(id, results, async (result) => {
      const destination = targets.get(result);
      if (!destination) return;
      await fetchFile(context, result.file, destination.target);
      written[result.kind] = destination.path;
      if (!json) print(`${resultNames[result.kind]}: ${destination.path}`);
    });
  } finally {
    if (json && Object.keys(written).length > 0) print(JSON.stringify(written));
  }
}

/**
 * Calls `take` for each result file, even if another result file is gone.
 * @throws RouterError `not_found` that names all files that are gone
 */
async function forEachResult(
  id: string,
  results: readonly ResultFile[],
  take: (result: ResultFile) => Promise<void>,
): Promise<void> {
  const gone: ResultFile[] = [];
  for (const result of results) {
    try {
      await take(result);
    } catch (error) {
      if (!(error instanceof CallError && error.status === 404)) throw error;
      gone.push(result);
    }
  }
  if (gone.length === 0) return;
  const files = gone.map(({ kind, file }) => `${file} (${resultNames[kind].toLowerCase()})`).join(' and ');
  throw new RouterError('not_found', `Results of batch ${id} were deleted: ${files}.`);
}
