import type { RouterError } from '#shared/core/errors.ts';
import type { Json } from '#shared/core/json.ts';
import type { ErrorAnswer } from '../retry-headers.ts';

/** What is known of a batch, whatever the API that it was created at shows of it. Times in ms since 1970. */
export interface BatchFacts {
  id: string;
  state: 'validating' | 'running' | 'finishing' | 'ended' | 'failed';
  endpoint?: string | undefined;
  inputFile: string;
  /** How long it may take, as its creator wrote it. */
  window?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  createdAt: number;
  expiresAt: number;
  runningAt?: number | undefined;
  finishingAt?: number | undefined;
  endedAt?: number | undefined;
  failedAt?: number | undefined;
  cancelledAt?: number | undefined;
  /** Lines; 0 until they are counted. */
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
  /** While its lines wait: when they are tried again, and for what, in words. */
  pausedUntil?: number | undefined;
  pausedFor?: string | undefined;
  /** Whether they wait for a worker, and are tried as soon as there is one. */
  lacksWorker?: boolean | undefined;
}

/** When the lines of a batch that waits are tried again; undefined if that is not known, or they are tried now. */
export function triedAgainAt(
  { pausedUntil, lacksWorker }: Pick<BatchFacts, 'pausedUntil' | 'lacksWorker'>,
  now = Date.now(),
): number | undefined {
  return lacksWorker !== true && pausedUntil !== undefined && pausedUntil > now ? pausedUntil : undefined;
}

/** One request of a batch. */
export interface BatchLine {
  /** The client's name of it, once in a batch. */
  customId: string;
  /** The body of the request, a JSON object. */
  body: Buffer;
}

/** One page of a list of batches, the newest first. */
export interface BatchPageRequest {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
}

/** What a request to create a batch asks for. */
export interface BatchCreation {
  /** The endpoint of its lines as the client names it. */
  endpoint: string;
  /** The same below the API's prefixes. */
  path: string;
  /** Id of the file with its lines. */
  inputFile: string;
  /** Milliseconds that it may take, and how the client writes them. */
  windowMs: number;
  window: string;
  metadata: Record<string, string> | undefined;
  /** Seconds for which the files with its results are kept; undefined for as long as others. */
  outputSeconds: number | undefined;
}

/**
 * How a batch is created: with the id of a file that has its lines, one request each; or with the requests themselves, in an array of
 * the body.
 */
export type BatchSource =
  | {
      kind: 'file';
      /** @throws RouterError `invalid_json`, `invalid_request`, `missing_parameter` */
      read: (body: Buffer) => BatchCreation;
    }
  | {
      kind: 'inline';
      /** The field of the body. */
      field: string;
      /** Path of its lines' requests below the API's prefixes. */
      path: string;
      windowMs: number;
    };

/** How an API's batches look: at its own paths, in their input and in their results. */
export interface BatchFormat {
  /** The path of the batches, below the API's prefixes. An id follows it. */
  path: string;
  /** Prefix of the ids. */
  idPrefix: string;
  source: BatchSource;
  /** Most requests of one batch. */
  maxLines: number;
  /** Whether results without an answer stand in a file of their own. */
  hasErrorFile: boolean;
  /** Whether the results have a path of their own, and a batch that is over can be removed. */
  hasResults: boolean;
  /**
   * Reads one line of the input.
   * @param endpoint the one that the batch is for, as the client named it
   * @throws RouterError that says what is wrong with it
   */
  readLine: (line: Buffer, endpoint: string | undefined) => BatchLine;
  /** The line of the results for an answer. @param answer its JSON text */
  succeeded: (customId: string, requestId: string, answer: string) => string;
  /** The line for an error, with the error as the line's client format writes it. */
  errored: (customId: string, requestId: string, answer: ErrorAnswer<object>) => string;
  /** The line for a request that was not run to its end. */
  stopped: (customId: string, requestId: string, outcome: 'cancelled' | 'expired') => string;
  /** @throws RouterError `invalid_request` */
  readPage: (query: Readonly<Record<string, unknown>>) => BatchPageRequest;
  /** @param baseUrl address of the API with its prefix, for links */
  show: (batch: BatchFacts, baseUrl: string) => object;
  list: (batches: readonly BatchFacts[], hasMore: boolean, baseUrl: string) => object;
  /** The body that confirms that a batch was removed. */
  removed: (id: string) => Json;
  /** The error for a batch that nobody, or somebody else, has. */
  notFound: (id: string) => RouterError;
}
