import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

/**
 * The states of a batch. Formats derive the states that they show from these and from `cancelledAt`.
 *
 * - `validating`: its input is being read.
 * - `running`: runners work on its slices.
 * - `finishing`: every line has a result; the files are being written.
 * - `ended`: the files are there.
 * - `failed`: its input is not valid, and no line was run.
 */
export const batchStates = ['validating', 'running', 'finishing', 'ended', 'failed'] as const;
export type BatchState = (typeof batchStates)[number];

/** How a line ended: with an answer, with an error, or before it was run to its end (`cancelled`, `expired`). */
export const lineOutcomes = ['succeeded', 'errored', 'cancelled', 'expired'] as const;
export type LineOutcome = (typeof lineOutcomes)[number];

export const batchProblemSchema = z.object({
  code: z.string(),
  message: z.string(),
  /** Number of the line, from 1; absent where the fault is in no single line. */
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
  /** The person, team or key without owner that it belongs to. */
  owner: z.string(),
  /** Id of the key that created it, or of the person of a console session. Its lines are served as requests of this key. */
  key: z.string(),
  /** Segment of the API that it was created at. */
  api: z.string(),
  /** Path of its lines' requests below the API's prefixes, such as `/chat/completions`. */
  path: z.string(),
  /** The endpoint as its creator named it; absent where the API has only one. */
  endpoint: z.string().optional(),
  /** Id of the file with its input, one line of JSON for each request. */
  inputFile: z.string(),
  /** Name of the input's object. The batch holds it from `validating` on, so that the file may be removed while the batch runs. */
  input: z.string().optional(),
  createdAt: time,
  /** Lines that are not done by then expire. */
  expiresAt: time,
  /** The time limit as its creator wrote it, such as `24h`. */
  window: z.string().optional(),
  metadata: storedJson(z.record(z.string(), z.string())).optional(),
  /** Seconds for which its files are kept; absent: as long as other files. */
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
  /** Unfinished batches of its owner when it began, itself included. */
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
  /** The same, if a worker served it at that time: the model exists, whether or not a worker serves it now. */
  knownModel: z.string().optional(),
  /** While lines wait for a limit: when they are tried again, and a description of the limit. */
  pausedUntil: time.optional(),
  pausedFor: z.string().optional(),
  /** The same time as `pausedUntil` if no line is tried before it: a budget is used up, or there is no room for results. */
  blockedUntil: time.optional(),
  /** Whether lines wait for a worker instead; they are tried as soon as there is one. */
  lacksWorker: z.stringbool().optional(),
  problems: storedJson(z.array(batchProblemSchema)).optional(),
  /** Ids of the files with its results. Only APIs with two files have the one for errors. */
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

/** Returns when an unfinished batch last progressed: it left a state, or a line of it was recorded. */
export function progressedAt({
  createdAt,
  runningAt,
  lineAt,
  finishingAt,
}: Pick<BatchRecord, 'createdAt' | 'runningAt' | 'lineAt' | 'finishingAt'>): number {
  return finishingAt ?? lineAt ?? runningAt ?? createdAt;
}

/** Milliseconds after the end of a pause within which its lines are tried again in any case. */
const pauseGraceMs = 60_000;

/** Returns whether lines of a batch wait for a limit or a worker. A pause counts until a minute after its end, unless it is renewed. */
export function isPaused({ pausedUntil }: Pick<BatchRecord, 'pausedUntil'>, now = Date.now()): boolean {
  return pausedUntil !== undefined && pausedUntil > now - pauseGraceMs;
}

/** Returns why a batch begins no further lines; undefined while it does. */
export function stopReason(
  { cancelledAt, expiresAt }: Pick<BatchRecord, 'cancelledAt' | 'expiresAt'>,
  now = Date.now(),
): Extract<LineOutcome, 'cancelled' | 'expired'> | undefined {
  if (cancelledAt !== undefined) return 'cancelled';
  return now >= expiresAt ? 'expired' : undefined;
}
