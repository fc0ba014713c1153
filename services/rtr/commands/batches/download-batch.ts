import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import { linesOf } from '#shared/formats/batches/lines-of.ts';
import { localFileError, type ClientContext } from '../client/client-context.ts';
import { contentOf, fetchFile } from '../client/fetch-file.ts';
import { isOver, type BatchObject } from './batch-object.ts';

/** Stands for the standard output where a folder is expected. */
const standardOutput = '-';

interface Side {
  side: 'output' | 'errors';
  /** Id of the file. */
  file: string;
}

/**
 * `rtr batches download <batch> [--out <folder>] [--force]`: writes the results into `<batch>_output.jsonl` and `<batch>_errors.jsonl`,
 * as far as there are any, and prints their paths; or, with `--out -`, prints the answers and then the errors.
 * @throws RouterError `invalid_request` for a batch that is not over or has no results, or where there is a file already; or a CallError
 */
export async function downloadBatch(
  context: ClientContext,
  id: string,
  { out, force = false }: { out: string; force?: boolean },
): Promise<void> {
  const { client } = context;
  const batch = await client.call<BatchObject>('GET', `/batches/${encodeURIComponent(id)}`);
  if (!isOver(batch)) throw new RouterError('invalid_request', `Batch ${id} is not over yet: it is ${batch.status}.`);
  const { output_file_id: output, error_file_id: errors } = batch;
  const sides: Side[] = [];
  if (output !== null) sides.push({ side: 'output', file: output });
  if (errors !== null) sides.push({ side: 'errors', file: errors });
  if (sides.length === 0) throw new RouterError('invalid_request', `Batch ${id} has no results.`);
  if (out === standardOutput) await printResults(context, sides);
  else await writeResults(context, batch.id, sides, { out, force });
}

async function printResults({ client, print }: ClientContext, sides: readonly Side[]): Promise<void> {
  for (const { file } of sides) {
    const { content } = await client.open(`/files/${encodeURIComponent(file)}/content`);
    for await (const { bytes } of linesOf(contentOf(file, content), Infinity)) print(bytes.toString());
  }
}

async function writeResults(
  context: ClientContext,
  id: string,
  sides: readonly Side[],
  { out, force }: { out: string; force: boolean },
): Promise<void> {
  const { print, json } = context;
  await mkdir(out, { recursive: true }).catch((error: unknown) => {
    throw localFileError(out, error);
  });
  const paths = sides.map(({ side, file }) => ({ side, file, path: join(out, `${id}_${side}.jsonl`) }));
  // Before anything is downloaded: a part of the results would look like all of them.
  const there = force ? undefined : paths.find(({ path }) => existsSync(path));
  if (there) {
    const message = `${there.path} exists already: name another folder with --out, or replace it with --force.`;
    throw new RouterError('invalid_request', message);
  }
  for (const { side, file, path } of paths) {
    await fetchFile(context, file, path);
    if (!json) print(`${side === 'output' ? 'Answers' : 'Errors'}: ${path}`);
  }
  if (json) print(JSON.stringify(Object.fromEntries(paths.map(({ side, path }) => [side, path]))));
}
