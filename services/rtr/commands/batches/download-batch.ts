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

const sideNames = { output: 'Answers', errors: 'Errors' } as const;

interface Side {
  side: 'output' | 'errors';
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
  const sides: Side[] = [];
  if (output !== null) sides.push({ side: 'output', file: output });
  if (errors !== null) sides.push({ side: 'errors', file: errors });
  if (sides.length === 0) throw new RouterError('invalid_request', `Batch ${id} has no results.`);
  if (out === standardStream) await printResults(context, batch.id, sides);
  else await writeResults(context, batch.id, sides, { out, force });
}

async function printResults({ client, print }: ClientContext, id: string, sides: readonly Side[]): Promise<void> {
  await eachSide(id, sides, async ({ file }) => {
    const { content } = await client.open(`/files/${toPathSegment(file)}/content`);
    for await (const { bytes } of readLines(readContent(file, content), Infinity)) print(bytes.toString());
  });
}

async function writeResults(
  context: ClientContext,
  id: string,
  sides: readonly Side[],
  { out, force }: { out: string; force: boolean },
): Promise<void> {
  const { print, json } = context;
  await mkdir(out, { recursive: true }).catch((error: unknown) => {
    throw toLocalFileError(out, error);
  });
  const hint = 'name another folder with --out, or replace it with --force.';
  // Both paths are checked before anything is downloaded, because one file alone would look like all results.
  const targets = new Map<Side, { path: string; target: WriteTarget }>();
  for (const side of sides) {
    const path = join(out, `${id}_${side.side}.jsonl`);
    targets.set(side, { path, target: await findWriteTarget(path, { force, hint }) });
  }
  const written: Partial<Record<Side['side'], string>> = {};
  try {
    await eachSide(id, sides, async (side) => {
      const found = targets.get(side);
      if (!found) return;
      await fetchFile(context, side.file, found.target);
      written[side.side] = found.path;
      if (!json) print(`${sideNames[side.side]}: ${found.path}`);
    });
  } finally {
    if (json && Object.keys(written).length > 0) print(JSON.stringify(written));
  }
}

/**
 * Calls `take` for each side, even if the file of another side is gone.
 * @throws RouterError `not_found` that names all files that are gone
 */
async function eachSide(id: string, sides: readonly Side[], take: (side: Side) => Promise<void>): Promise<void> {
  const gone: Side[] = [];
  for (const side of sides) {
    try {
      await take(side);
    } catch (error) {
      if (!(error instanceof CallError && error.status === 404)) throw error;
      gone.push(side);
    }
  }
  if (gone.length === 0) return;
  const files = gone.map(({ side, file }) => `${file} (${sideNames[side].toLowerCase()})`).join(' and ');
  throw new RouterError('not_found', `Results of batch ${id} were deleted: ${files}.`);
}
