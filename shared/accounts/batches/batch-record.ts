import type { FileRecord } from '../files/file-records.ts';
import { z } from 'zod';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

/**
 * The states of a batch. Formats derive the states that they show from these states and from `cancelledAt`.
 *
 * - `validating`: its input is being read.
 * - `running`: runners work on its slices.
 * - `finishing`: every line has a result; the files are being written.
 * - `ended`: the files are written.
 * - `failed`: its input is not valid, and no line was run.
 */
export const batchStates = ['validating', 'running', 'finishing', 'ended', 'failed'] as const;
export type BatchState = (typeof batchStates)[number];

/** How a line ended: with an answer, with an error, or unfinished because its batch was cancelled or has expired. */
export const lineOutcomes = ['succeeded', 'errored', 'cancelled', 'expired'] as const;
export type LineOutcome = (typeof lineOutcomes)[number];

export const batchProblemSchema = z.object({
  code: z.string(),
  message: z.string(),
  /** Number of the line, from 1; absent if the problem is not in a single line. */
  line: z.number().optional(),
  /** Path of the field that is wrong. */
  param: z.string().optional(),
});

export type BatchProblem = z.infer<typeof batchProblemSchema>;

const time = z.coerce.number();
const count = z.coerce.number().int().nonnegative().default(0);

/** The stored record of a batch, without its lines and their results. Times in ms since 1970. */
export const batchRecordSchema = z.object({
  id: z.string(),
  /** The person or team that the batch belongs to, or the key if the key has no owner. */
  owner: z.string(),
  /** Id of the key that created the batch, or of the person of a console session. Its lines are served as requests of this key. */
  key: z.string(),
  /** Segment of the API at which the batch was created. */
  api: z.string(),
  /** Path of its lines' requests below the API's prefixes, such as `/chat/completions`. */
  path: z.string(),
  /** The endpoint as the batch's creator named it; absent if the API has only one endpoint. */
  endpoint: z.string().optional(),
  /** Id of the file with the batch's input, one line of JSON for each request. */
  inputFile: z.string(),
  /**
   * Name of the object with the input. The batch holds this object from `validating` on, so that the file may be removed while the batch
   * runs.
   */
  input: z.string().optional(),
  createdAt: time,
  /** Lines without a result at this time expire. */
  expiresAt: time,
  /** The time limit as the batch's creator wrote it, such as `24h`. */
  window: z.string().optional(),
  metadata: createStoredSchema(z.record(z.string(), z.string())).optional(),
  /** Seconds for which the batch's files are kept; absent if they are kept as long as other files. */
  outputSeconds: z.coerce.number().optional(),
  state: z.enum(batchStates),
  runningAt: time.optional(),
  finishingAt: time.optional(),
  endedAt: time.optional(),
  failedAt: time.optional(),
  /** When the last result of a line was recorded. */
  lineAt: time.optional(),
  cancelledAt: time.optional(),
  /** Number of lines; 0 until they are counted. */
  total: count,
  slices: count,
  slicesLeft: count,
  /** How many unfinished batches the owner had when this batch began, including this batch. */
  ofOwner: z.coerce.number().default(1),
  succeeded: count,
  errored: count,
  cancelled: count,
  expired: count,
  promptTokens: count,
  cachedTokens: count,
  completionTokens: count,
  reasoningTokens: count,
  /** In nano-dollars. */
  cost: count,
  model: z.string().optional(),
  /** Equals `model` if a worker served this model when the field was stored. So the model exists, even if no worker serves it now. */
  knownModel: z.string().optional(),
  /** While lines wait: when they are tried again. */
  pausedUntil: time.optional(),
  /** While lines wait: a description, for the user, of what they wait for. */
  pausedFor: z.string().optional(),
  /**
   * The same time as `pausedUntil`. Present only if no line is tried before that time, because a budget is used up or there is no room for
   * results.
   */
  blockedUntil: time.optional(),
  /** Whether lines wait for a worker. If so, they are tried as soon as there is a worker, even before `pausedUntil`. */
  lacksWorker: z.stringbool().optional(),
  problems: createStoredSchema(z.array(batchProblemSchema)).optional(),
  /** Ids of the files with the batch's results. Only APIs that write errors to a separate file have `errorFile`. */
  outputFile: z.string().optional(),
  errorFile: z.string().optional(),
});

export type BatchRecord = z.infer<typeof batchRecordSchema>;

export type NewBatch = Pick<
  BatchRecord,
  | 'id'
  | 'owner'
  | 'key'
  | 'api'
  | 'path'
  | 'endpoint'
  | 'inputFile'
  | 'createdAt'
  | 'expiresAt'
  | 'window'
  | 'metadata'
  | 'outputSeconds'
  | 'total'
>;

export function isOver({ state }: Pick<BatchRecord, 'state'>): boolean {
  return state === 'ended' || state === 'failed';
}

/** Returns when an unfinished batch last progressed: when it left a state, or the result of a line was recorded. */
export function findLastProgress({
  createdAt,
  runningAt,
  lineAt,
  finishingAt,
}: Pick<BatchRecord, 'createdAt' | 'runningAt' | 'lineAt' | 'finishingAt'>): number {
  return finishingAt ?? lineAt ?? runningAt ?? createdAt;
}

/** Milliseconds after the end of a pause within which the waiting lines are tried again in any case. */
const pauseGraceMs = 60_000;

/** Returns whether lines of a batch wait for a limit or a worker. A pause that is not renewed counts until a minute after its end. */
export function isPaused({ pausedUntil }: Pick<BatchRecord, 'pausedUntil'>, now = Date.now()): boolean {
  return pausedUntil !== undefined && pausedUntil > now - pauseGraceMs;
}

/** Returns why no further lines of a batch are begun; undefined while lines are begun. */
export function findStopReason(
  { cancelledAt, expiresAt }: Pick<BatchRecord, 'cancelledAt' | 'expiresAt'>,
  now = Date.now(),
): Extract<LineOutcome, 'cancelled' | 'expired'> | undefined {
  if (cancelledAt !== undefined) return 'cancelled';
  return now >= expiresAt ? 'expired' : undefined;
}

/** The use of a line's requests, as the batch's record counts it. */
export type LineUsage = Pick<
  BatchRecord,
  'promptTokens' | 'cachedTokens' | 'completionTokens' | 'reasoningTokens' | 'cost'
>;

export interface BatchMove {
  from: BatchState;
  to: BatchState;
  /** Other fields of the record that change with the state. */
  fields?: Partial<BatchRecord>;
  /** The field that gets the time of the change, by the clock of Redis. */
  timed?: 'runningAt' | 'finishingAt' | 'endedAt' | 'failedAt';
  /** Uploads of the batch's owner that become files in the same step. */
  files?: readonly FileRecord[];
}

export interface BatchPause {
  /** When the lines are tried again, in ms since 1970. */
  until: number;
  /** A description, for the user, of what the lines wait for. */
  reason: string;
  /** Whether no line of the batch is tried before `until`. */
  pausesAllLines: boolean;
  /** Whether the lines wait for a worker, and are tried as soon as there is a worker. */
  lacksWorker?: boolean;
}
