import { z } from 'zod';
import type { Operation } from '#shared/core/operation.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Usage } from '#shared/core/usage.ts';

/** The name of a client format. The broker's contract does not say which formats exist. */
export const formatName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);

/**
 * A person's connection to an MCP server, for one call of a tool of that server. The token is the person's: it is never logged, and
 * kept no longer than the call takes.
 */
export const serverConnection = z.object({
  /** The server, as the operator names it. */
  server: z.string(),
  /** The address that the token is for, as the ingress knows it: the worker sends the token nowhere else. */
  url: z.string(),
  token: z.string(),
  /** The tool, as the server names it; absent to list the server's tools. */
  tool: z.string().optional(),
});

export type ServerConnection = z.infer<typeof serverConnection>;

/** A job as a worker's handler gets it, body complete. */
export interface GrantedJob {
  id: string;
  /** The client's `x-request-id`, for every log line. */
  requestId: string;
  operation: Operation;
  /** The client format, and so the format of the bytes to answer with: one that the worker announced. */
  format: string;
  /** Whether the client wants server-sent events. */
  stream: boolean;
  /** The concrete model to serve it with: one that the worker announced. */
  model: string;
  /** The client's headers that concern an upstream of its own format, names in lower case. Absent when it sent none. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id that the answer must have; absent if the worker chooses it. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. Never logged. */
  ownerKey?: string | undefined;
  /** See `Grant.connection`. Never logged. */
  connection?: ServerConnection | undefined;
  /** See `Grant.unread`. */
  unread?: UnreadLists | undefined;
  /** The worker's span of this job, when jobs are traced: for the spans of what it takes to serve it. */
  trace?: TraceSpan | undefined;
  /** What the client has of the answer, in its format, if the answer is to be continued. See `Grant.relayedBytes`. */
  relayed?: Buffer | undefined;
  /** The client's body as it came: JSON in UTF-8, already checked by the ingress. Read it with `readRequest`, which releases it. */
  body: Buffer;
}

/** What of a body its worker need not read, for an upstream of the client's format. */
export interface UnreadLists {
  /** Lists at the top of the body, by name, each with the number of fields of all objects in it. */
  lists: Readonly<Record<string, number>>;
  /** Input tokens of the whole request, estimated. */
  inputTokens: number;
}

/** What a worker reports of a complete answer. */
export interface JobEnd {
  usage: Usage;
  /** A value of the chat format: stop, length, tool_calls, content_filter. */
  finishReason: string;
}

/** Where a handler puts the answer: bytes in the client's format, server-sent events when the job streams. */
export interface Reply {
  /**
   * Has these headers of the upstream's answer, names in lower case, reach the client with the first piece. The ingress passes
   * those that the client's format names, and `fittedLimitHeader`. Call it before the first piece, as often as there are more; an
   * error has its own.
   */
  head(headers: Readonly<Record<string, string>>): void;
  /**
   * Queues a piece of the answer. Pieces of a stream that follow each other within the coalescing window travel together; an
   * answer that is not streamed waits for its end.
   */
  write(piece: string | Uint8Array): void;
  /**
   * Resolves when there is room for further pieces; undefined while there is. Where the ingress is out of reach for long, sent
   * pieces fill the memory that they are kept in: a handler that can wait then reads no more of its upstream.
   */
  room?(): Promise<void> | undefined;
}

/**
 * Serves one job. Resolves when the answer is complete and written; must settle soon after the signal aborts (client gone,
 * worker stopping), having ended the generation.
 * @throws RouterError for the client; any other error counts as `internal`
 */
export type JobHandler = (job: GrantedJob, reply: Reply, signal: AbortSignal) => Promise<JobEnd>;
