import { findStopReason, type BatchProblem, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { Slice } from '#shared/accounts/batches/slice.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import { CustomIds } from '#shared/formats/batches/read-lines.ts';
import { createEndingJob, createSliceJob, type BatchJob } from '#shared/background/batch-jobs.ts';
import { findBatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import { heavyBytes } from '../heavy-work.ts';
import type { BatchDependencies } from './batch-dependencies.ts';
import { readInputLines, type InputLine } from './read-input-lines.ts';

/** Largest number of lines in a slice. When a runner dies, another runner repeats the slice without the lines that have a result. */
const linesPerSlice = 100;

/** Largest size of a slice in bytes, unless a single line is larger. */
const bytesPerSlice = 8 * 1024 * 1024;

/** Largest number of problems in the record of a batch. Validation stops when it has found this many. */
const maxProblems = 100;

/** Largest length of the message of a problem, which may quote what the client has sent. */
const maxMessageLength = 300;

const inputGoneProblem: BatchProblem = {
  code: 'not_found',
  message: 'The input of the batch is not there any more.',
};

interface InputContent {
  slices: Slice[];
  lines: number;
  model: string | undefined;
  problems: BatchProblem[];
}

/**
 * Reads the input of a batch line by line. If all lines are valid requests, adds the jobs of the slices. Otherwise, fails the batch and
 * records the problem of each invalid line. May be called again for a batch that an earlier call has started.
 */
export async function validateBatch(parts: BatchDependencies, { batch: id }: BatchJob): Promise<void> {
  const { batches, jobs, log } = parts;
  const batch = await batches.find(id);
  if (batch?.state === 'validating') {
    const input = await batches.holdInput(id);
    const content = await readInput(parts, batch, input);
    const { slices, lines: total, model, problems } = content;
    if (problems.length > 0) {
      await failBatch(parts, batch, problems);
      return;
    }
    await batches.writeSlices(id, slices);
    const fields = {
      total,
      slices: slices.length,
      slicesLeft: slices.length,
      ofOwner: await batches.countOpen(batch.owner),
      model,
      knownModel: parts.isKnownModel(model) ? model : undefined,
    };
    const hasBegun = await batches.move(id, { from: 'validating', to: 'running', fields, timed: 'runningAt' });
    if (hasBegun) log.info({ batch: id, lines: total, slices: slices.length }, 'a batch has begun');
  }
  const runningBatch = await batches.find(id);
  if (runningBatch?.state !== 'running') return;
  const { batch: format } = findBatchFormats(runningBatch, parts.formats) ?? {};
  if (format?.source.kind === 'inline') await parts.files.delete(runningBatch.owner, runningBatch.inputFile);
  const order = { ofOwner: runningBatch.ofOwner, next: await jobs.findNextPriority('batch-slices') };
  const slices = Array.from({ length: runningBatch.slices }, (_, slice) => createSliceJob(id, slice, order));
  await jobs.addAfter(createEndingJob(id), slices);
}

/** @param input name of the object; undefined if its owner has removed the file */
async function readInput(
  parts: BatchDependencies,
  batch: BatchRecord,
  input: string | undefined,
): Promise<InputContent> {
  const content: InputContent = { slices: [], lines: 0, model: undefined, problems: [] };
  const formats = findBatchFormats(batch, parts.formats);
  if (!formats)
    content.problems.push({
      code: 'invalid_request',
      message: 'This router does not serve the endpoint of the batch.',
    });
  if (input === undefined) content.problems.push(inputGoneProblem);
  if (!formats || input === undefined) return content;
  const pieces = await parts.objects.get(input);
  if (!pieces) {
    // While the batch has time, validation is tried again, because the object may become readable again.
    if (findStopReason(batch) === undefined) throw createStoreUnavailableError(`the input of ${batch.id} is away`);
    content.problems.push(inputGoneProblem);
    return content;
  }
  const ids = new CustomIds();
  let number = 0;
  try {
    for await (const line of readInputLines(parts, batch.id, pieces, { maxBytes: parts.maxLineBytes })) {
      ({ number } = line);
      if (content.lines >= formats.batch.maxLines) throw tooManyRequestsError(formats.batch);
      const problem = await checkLine(line, batch, formats.batch, ids, content);
      if (problem) content.problems.push({ ...problem, line: number });
      else addToSlices(content, line);
      if (content.problems.length >= maxProblems) break;
    }
  } catch (error) {
    if (!(error instanceof RouterError) || error.code === 'store_unavailable') throw error;
    content.problems.push({ ...toProblem(error), line: number });
  }
  if (number === 0) content.problems.push({ code: 'empty_file', message: 'The input of the batch has no requests.' });
  return content;
}

/**
 * Returns the problem of a line; undefined if the line is valid. A line is also invalid if two processes died while they read it.
 */
async function checkLine(
  { bytes, heavyTask }: InputLine,
  { endpoint }: BatchRecord,
  format: BatchFormat,
  ids: CustomIds,
  content: InputContent,
): Promise<BatchProblem | undefined> {
  const refusal = bytes.length >= heavyBytes ? await heavyTask.begin() : undefined;
  try {
    if (refusal) throw refusal;
    const { customId, request } = format.readLine(bytes, endpoint);
    if (!ids.add(customId)) {
      const message = shorten(`An earlier line has the same custom_id: ${JSON.stringify(customId)}`);
      return { code: 'duplicate_custom_id', message, param: 'custom_id' };
    }
    if (content.lines === 0) content.model = readModel(request);
    return undefined;
  } catch (error) {
    if (error instanceof RouterError) return toProblem(error);
    throw error;
  } finally {
    heavyTask.end();
  }
}

function toProblem({ code, message, param }: RouterError): BatchProblem {
  return { code, message: shorten(message), ...(param !== undefined && { param }) };
}

function shorten(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`;
}

function readModel({ model }: JsonObject): string | undefined {
  return typeof model === 'string' ? model.slice(0, 200) : undefined;
}

function addToSlices(content: InputContent, { from, to, number }: InputLine): void {
  const last = content.slices.at(-1);
  content.lines += 1;
  if (!last || last.lines >= linesPerSlice || to - last.from > bytesPerSlice)
    content.slices.push({ from, to, lines: 1, first: number });
  else {
    last.to = to;
    last.lines += 1;
  }
}

function tooManyRequestsError({ maxLines }: BatchFormat): RouterError {
  return new RouterError('invalid_request', `A batch has ${maxLines} requests at most.`);
}

/**
 * Moves a batch that cannot be processed to the state `failed`, with its problems, and adds the job that ends it. Does nothing if the batch
 * has left the state that the caller has seen.
 */
export async function failBatch(
  { batches, jobs, log }: Pick<BatchDependencies, 'batches' | 'jobs' | 'log'>,
  { id, state }: Pick<BatchRecord, 'id' | 'state'>,
  problems: readonly BatchProblem[],
): Promise<void> {
  const fields = { problems: [...problems] };
  if (!(await batches.move(id, { from: state, to: 'failed', fields, timed: 'failedAt' }))) return;
  log.info({ batch: id, problems: problems.length }, 'a batch has failed');
  await jobs.add(createEndingJob(id));
}
