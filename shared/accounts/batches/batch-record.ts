import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

/**
 * The states of a batch. Formats show others, which follow from these and from `cancelledAt`.
 *
 * - `validating`: its input is being read.
 * - `running`: its slices are worked on.
 * - `finishing`: every line has a result; the files are being written.
 * - `ended`: the files are there.
 * - `failed`: its input is not valid, and no line was run.
 */
export const batchStates = ['validating', 'running', 'finishing', 'ended', 'failed'] as const;
export type BatchState = (typeof batchStates)[number];

/** How a line ended: with an answer, with an error, or without having been run to its end. */
export const lineOutcomes = ['succeeded', 'errored', 'cancelled', 'expired'] as const;
export type LineOutcome = (typeof lineOutcomes)[number];

/** Something that is wrong with a batch's input. */
export const batchProblemSchema = z.object({
  code: z.string(),
  message: z.string(),
  /** Number of the line, from 1; absent for what concerns no single one. */
  line: z.number().optional(),
  /** Path of the field. */
  param: z.string().optional(),
});

export type BatchProblem = z.infer<typeof batchProblemSchema>;

const time = z.coerce.number();
const count = z.coerce.number().int().nonnegative().default(0);

/** What is stored of a batch, without its lines and their results. Times in ms since 1970. */
export const batchRecordSchema = z.object({
  id: z.string(),
  /** The person, team or key without owner that it belongs to. */
  owner: z.string(),
  /** Id of the key, or of the console session's person, that it was created with. Its lines are served as requests of this key. */
  key: z.string(),
  /** Segment of the API that it was created at. */
  api: z.string(),
  /** Path of its lines' requests below the API's prefixes, such as `/chat/completions`. */
  path: z.string(),
  /** The endpoint as its creator named it; absent where the API has one only. */
  endpoint: z.string().optional(),
  /** Id of the file with its input, one line of JSON for each request. */
  inputFile: z.string(),
  /** Name of its object, which the batch holds from `validating` on: the file may be removed while the batch runs. */
  input: z.string().optional(),
  createdAt: time,
  /** What is not done by then expires. */
  expiresAt: time,
  /** The same as its creator wrote it, such as `24h`. */
  window: z.string().optional(),
  metadata: storedJson(z.record(z.string(), z.string())).optional(),
  /** Seconds for which its files are kept; absent for as long as others. */
  outputSeconds: z.coerce.number().optional(),
  state: z.enum(batchStates),
  runningAt: time.optional(),
  finishingAt: time.optional(),
  endedAt: time.optional(),
  failedAt: time.optional(),
  /** When the last line was recorded. */
  lineAt: time.optional(),
  /** When it was asked to be cancelled. */
  cancelledAt: time.optional(),
  /** Lines; 0 until they are counted. */
  total: count,
  slices: count,
  slicesLeft: count,
  /** Batches of its owner that were not over when it began, itself included. */
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
  /** The model that its first line asks for. */
  model: z.string().optional(),
  /** The same if a worker served it then: it exists, whether or not one does now. */
  knownModel: z.string().optional(),
  /** While lines wait for a limit: when they are tried again, and which limit that is, in words. */
  pausedUntil: time.optional(),
  pausedFor: z.string().optional(),
  /** The first of these if no line of it is tried before: a budget is used up, or there is no room for results. */
  blockedUntil: time.optional(),
  /** Whether they wait for a worker instead, and are tried as soon as there is one. */
  lacksWorker: z.stringbool().optional(),
  problems: storedJson(z.array(batchProblemSchema)).optional(),
  /** Ids of the files with its results; of the one with errors only where the API has two. */
  outputFile: z.string().optional(),
  errorFile: z.string().optional(),
});

export type BatchRecord = z.infer<typeof batchRecordSchema>;

/** What is known of a batch when it is created. */
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

/** Whether nothing of a batch is still to be done. */
export function isOver({ state }: Pick<BatchRecord, 'state'>): boolean {
  return state === 'ended' || state === 'failed';
}

/** When a batch that is not over last progressed: it left a state, or a line of it was recorded. */
export function progressedAt({
  createdAt,
  runningAt,
  lineAt,
  finishingAt,
}: Pick<BatchRecord, 'createdAt' | 'runningAt' | 'lineAt' | 'finishingAt'>): number {
  return finishingAt ?? lineAt ?? runningAt ?? createdAt;
}

/** Milliseconds after the end of a pause within which lines are tried again by all means. */
const pauseGraceMs = 60_000;

/** Whether the lines of a batch wait for a limit or a worker. A pause that nobody has renewed since it ended is none any more. */
export function isPaused({ pausedUntil }: Pick<BatchRecord, 'pausedUntil'>, now = Date.now()): boolean {
  return pausedUntil !== undefined && pausedUntil > now - pauseGraceMs;
}

/** Why lines of a batch that have not begun are not run any more; undefined while they are. */
export function stopOf(
  { cancelledAt, expiresAt }: Pick<BatchRecord, 'cancelledAt' | 'expiresAt'>,
  now = Date.now(),
): Extract<LineOutcome, 'cancelled' | 'expired'> | undefined {
  if (cancelledAt !== undefined) return 'cancelled';
  return now >= expiresAt ? 'expired' : undefined;
}
