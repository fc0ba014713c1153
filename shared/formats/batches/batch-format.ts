import type { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { ErrorAnswer } from '../retry-headers.ts';

/** A batch in terms that do not depend on the API that created it. Times are in ms since 1970. */
export interface BatchFacts {
  id: string;
  state: 'validating' | 'running' | 'finishing' | 'ended' | 'failed';
  endpoint?: string | undefined;
  inputFile: string;
  /** The completion window as the client wrote it, such as `24h`. */
  window?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  createdAt: number;
  expiresAt: number;
  runningAt?: number | undefined;
  finishingAt?: number | undefined;
  endedAt?: number | undefined;
  failedAt?: number | undefined;
  cancelledAt?: number | undefined;
  /** Number of lines; 0 until they are counted. */
  total: number;
  succeeded: number;
  errored: number;
  cancelled: number;
  expired: number;
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  reasoningTokens: number;
  model?: string | undefined;
  problems?:
    | readonly { code: string; message: string; line?: number | undefined; param?: string | undefined }[]
    | undefined;
  outputFile?: string | undefined;
  errorFile?: string | undefined;
  /** The time at which the router tries the lines again; undefined if the lines do not wait. */
  pausedUntil?: number | undefined;
  /** The reason why the lines wait, in words; undefined if the lines do not wait. */
  pausedFor?: string | undefined;
  /** Whether the lines wait for a worker. The router tries the lines as soon as a worker connects. */
  lacksWorker?: boolean | undefined;
}

/**
 * Returns the time at which the router tries a waiting batch again; undefined if that time has come, or if the batch waits for a worker.
 */
export function findRetryTime(
  { pausedUntil, lacksWorker }: Pick<BatchFacts, 'pausedUntil' | 'lacksWorker'>,
  now = Date.now(),
): number | undefined {
  return lacksWorker !== true && pausedUntil !== undefined && pausedUntil > now ? pausedUntil : undefined;
}

export interface BatchLine {
  /** The client's id for the request, unique within the batch. */
  customId: string;
  request: JsonObject;
}

export const defaultPageSize = 20;

/** One page of a list of batches, newest first. */
export interface BatchPageRequest {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

export interface BatchCreation {
  /** The endpoint of the lines as the client wrote it. */
  endpoint: string;
  /** The same endpoint below the API's prefixes. */
  path: string;
  inputFile: string;
  /** The completion window in milliseconds. */
  windowMs: number;
  /** The completion window as the client wrote it. */
  window: string;
  metadata: Record<string, string> | undefined;
  /** Seconds for which the result files are kept; undefined for the default lifetime of files. */
  outputSeconds: number | undefined;
}

/** Where a batch's requests come from: a file with one request per line, or an array in the body of the creation request. */
export type BatchSource =
  | {
      kind: 'file';
      /** @throws RouterError `invalid_json`, `invalid_request`, `missing_parameter` */
      read: (body: Buffer) => BatchCreation;
    }
  | {
      kind: 'inline';
      /** The field of the body with the requests. */
      field: string;
      path: string;
      windowMs: number;
    };

/** How one API reads the input of batches, and writes batches and their results. */
export interface BatchFormat {
  /** The path of the batches below the API's prefixes. The path of one batch adds its id. */
  path: string;
  idPrefix: string;
  source: BatchSource;
  maxLines: number;
  /** Whether results without an answer go into a separate file. */
  hasErrorFile: boolean;
  /** Whether the results have their own path, and clients can delete a batch that has ended. */
  hasResults: boolean;
  /**
   * Reads one line of the input.
   * @param endpoint the batch's endpoint as the client wrote it
   * @throws RouterError that names the problem
   */
  readLine: (line: Buffer, endpoint: string | undefined) => BatchLine;
  /**
   * Returns the result line for an answer.
   * @param answer the JSON text of the answer
   */
  toAnswerLine: (customId: string, requestId: string, answer: string) => string;
  /**
   * Returns the result line for an error.
   * @param answer the error in the line's client format
   */
  toErrorLine: (customId: string, requestId: string, answer: ErrorAnswer<object>) => string;
  /** Returns the result line for a request that ended without an answer or an error. */
  toUnfinishedLine: (customId: string, requestId: string, outcome: 'cancelled' | 'expired') => string;
  /** @throws RouterError `invalid_request` */
  readPage: (query: Readonly<Record<string, unknown>>) => BatchPageRequest;
  /** @param baseUrl URL of the API with its prefix, for links in the answer */
  show: (batch: BatchFacts, baseUrl: string) => object;
  list: (batches: readonly BatchFacts[], hasMore: boolean, baseUrl: string) => object;
  showRemoval: (id: string) => Json;
  /** Returns the error for a batch that does not exist, or belongs to another owner. */
  notFound: (id: string) => RouterError;
}
