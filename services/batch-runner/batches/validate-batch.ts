import { hash } from 'node:crypto';
import { stopReason, type BatchProblem, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { Slice } from '#shared/accounts/batches/slice.ts';
import { storeUnavailable } from '#shared/accounts/redis/call-redis.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import { createEndingJob, createSliceJob, type BatchJob } from '#shared/background/batch-jobs.ts';
import { findBatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import { heavyBytes } from '../heavy-work.ts';
import type { BatchParts } from './batch-parts.ts';
import { readInputLines, type InputLine } from './input-lines.ts';
import { failBatch } from './fail-batch.ts';

/** Largest number of lines in a slice. When a runner dies, another one repeats the slice without the lines that have a result. */
const linesPerSlice = 100;

/** Largest size of a slice in bytes, unless a single line is larger. */
const bytesPerSlice = 8 * 1024 * 1024;

/** Largest number of problems in the record of a batch. Reading stops once there are as many. */
const maxProblems = 100;

const inputGone: BatchProblem = {
  code: 'not_found',
  message: 'The input of the batch is not there any more.',
};

interface ReadInput {
  slices: Slice[];
  lines: number;
  model: string | undefined;
  problems: BatchProblem[];
}

/**
 * Reads the input of a batch line by line. Adds the jobs of its slices or, if any line is not a valid request, fails the batch with the
 * problems by line. May be called again for a batch that it has started.
 */
export async function validateBatch(parts: BatchParts, { batch: id }: BatchJob): Promise<void> {
  const { work, jobs, log } = parts;
  const batch = await work.find(id);
  if (batch?.state === 'validating') {
    const input = await work.holdInput(id);
    const read = await readInput(parts, batch, input);
    const { slices, lines: total, model, problems } = read;
    if (problems.length > 0) {
      await failBatch(parts, batch, problems);
      return;
    }
    await work.writeSlices(id, slices);
    const fields = {
      total,
      slices: slices.length,
      slicesLeft: slices.length,
      ofOwner: await work.countOpen(batch.owner),
      model,
      knownModel: parts.isKnownModel(model) ? model : undefined,
    };
    const isMine = await work.move(id, { from: 'validating', to: 'running', fields, timed: 'runningAt' });
    if (isMine) log.info({ batch: id, lines: total, slices: slices.length }, 'a batch has begun');
  }
  const begun = await work.find(id);
  if (begun?.state !== 'running') return;
  const { batch: format } = findBatchFormats(begun, parts.formats) ?? {};
  if (format?.source.kind === 'inline') await parts.files.delete(begun.owner, begun.inputFile);
  const turns = { ofOwner: begun.ofOwner, next: await jobs.findNextPriority('batch-slices') };
  const slices = Array.from({ length: begun.slices }, (_, slice) => createSliceJob(id, slice, turns));
  await jobs.addAfter(createEndingJob(id), slices);
}

/** @param input name of the object; undefined if its owner has removed the file */
async function readInput(parts: BatchParts, batch: BatchRecord, input: string | undefined): Promise<ReadInput> {
  const read: ReadInput = { slices: [], lines: 0, model: undefined, problems: [] };
  const formats = findBatchFormats(batch, parts.formats);
  if (!formats) read.problems.push({ code: 'invalid_request', message: 'This router does not serve its endpoint.' });
  if (input === undefined) read.problems.push(inputGone);
  if (!formats || input === undefined) return read;
  const pieces = await parts.objects.get(input);
  if (!pieces) {
    // While the batch has time, validation is tried again, because the object may become readable again.
    if (stopReason(batch) === undefined) throw storeUnavailable(`the input of ${batch.id} is away`);
    read.problems.push(inputGone);
    return read;
  }
  const ids = new Set<string>();
  let number = 0;
  try {
    for await (const line of readInputLines(parts, batch.id, pieces, { maxBytes: parts.maxLineBytes })) {
      ({ number } = line);
      if (read.lines >= formats.batch.maxLines) throw tooMany(formats.batch);
      const problem = await checkLine(line, batch, formats.batch, ids, read);
      if (problem) read.problems.push({ ...problem, line: number });
      else addToSlices(read, line);
      if (read.problems.length >= maxProblems) break;
    }
  } catch (error) {
    if (!(error instanceof RouterError) || error.code === 'store_unavailable') throw error;
    read.problems.push({ ...problemOf(error), line: number });
  }
  if (number === 0) read.problems.push({ code: 'empty_file', message: 'The input of the batch has no requests.' });
  return read;
}

/**
 * Returns the problem of a line; undefined if the line is valid. A line is also invalid if two processes died while they read it.
 */
async function checkLine(
  { bytes, heavy }: InputLine,
  { endpoint }: BatchRecord,
  format: BatchFormat,
  ids: Set<string>,
  read: ReadInput,
): Promise<BatchProblem | undefined> {
  const setAside = bytes.length >= heavyBytes ? await heavy.begin() : undefined;
  try {
    if (setAside) throw setAside;
    const { customId, request } = format.readLine(bytes, endpoint);
    // A long id is replaced by its hash, because a hundred thousand ids may be in memory at once.
    const short = customId.length <= 64 ? customId : hash('sha256', customId, 'base64');
    if (ids.has(short)) {
      const message = `The custom_id ${JSON.stringify(customId)} is that of an earlier line, too.`;
      return { code: 'duplicate_custom_id', message, param: 'custom_id' };
    }
    ids.add(short);
    if (read.lines === 0) read.model = modelOf(request);
    return undefined;
  } catch (error) {
    if (error instanceof RouterError) return problemOf(error);
    throw error;
  } finally {
    heavy.end();
  }
}

function problemOf({ code, message, param }: RouterError): BatchProblem {
  return { code, message, ...(param !== undefined && { param }) };
}

function modelOf({ model }: JsonObject): string | undefined {
  return typeof model === 'string' ? model.slice(0, 200) : undefined;
}

function addToSlices(read: ReadInput, { from, to, number }: InputLine): void {
  const last = read.slices.at(-1);
  read.lines += 1;
  if (!last || last.lines >= linesPerSlice || to - last.from > bytesPerSlice)
    read.slices.push({ from, to, lines: 1, first: number });
  else {
    last.to = to;
    last.lines += 1;
  }
}

function tooMany({ maxLines }: BatchFormat): RouterError {
  return new RouterError('invalid_request', `A batch has ${maxLines} requests at most.`);
}
