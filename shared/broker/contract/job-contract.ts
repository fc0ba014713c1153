import { z } from 'zod';
import type { Operation } from '#shared/core/operation.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Usage } from '#shared/core/usage.ts';

/** The schema of a client format's name. The broker contract does not define which formats exist. */
export const formatNameSchema = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);

/**
 * A person's MCP account link, for one call of a tool of the linked MCP server. The token belongs to the person. It is never logged, and
 * not kept after the call.
 */
export const mcpAccountLinkSchema = z.object({
  /** The operator's name for the MCP server. */
  server: z.string(),
  /** The MCP server's URL according to the dispatcher. The worker sends the token only there. */
  url: z.string(),
  token: z.string(),
  /** The MCP server's name for the tool; absent to list the server's tools. */
  tool: z.string().optional(),
});

export type McpAccountLink = z.infer<typeof mcpAccountLinkSchema>;

/** A job as its worker's handler gets it. */
export interface GrantedJob {
  id: string;
  /** The client's `x-request-id`, for every log line. */
  requestId: string;
  operation: Operation;
  /** The client format, which is also the format of the answer. The worker has announced it. */
  format: string;
  /** Whether the client wants server-sent events. */
  stream: boolean;
  /** The concrete model that serves the job. The worker has announced it. */
  model: string;
  /** The client's headers that an upstream of the same format needs, with names in lower case. Absent if the client sent none of them. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id that the answer must have; absent if the worker chooses it. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. Never logged. */
  ownerKey?: string | undefined;
  /** See `Grant.ownerMark`. */
  ownerMark?: string | undefined;
  /** See `Grant.connection`. Never logged. */
  connection?: McpAccountLink | undefined;
  /** See `Grant.unread`. */
  unread?: UnreadLists | undefined;
  /** The worker's span of this job, if jobs are traced. It is the parent of the handler's spans. */
  trace?: TraceSpan | undefined;
  /**
   * The part of the answer that the client already has, in the client's format. Absent for an answer that has not begun. See
   * `Grant.relayedBytes`.
   */
  relayed?: Buffer | undefined;
  /** The client's body as it came: JSON in UTF-8 that the ingress has validated. Read it with `readRequest`, which releases it. */
  body: Buffer;
}

/** The lists of a body that the worker need not parse if the upstream speaks the client's format. */
export interface UnreadLists {
  /** The number of fields of all objects in each list. The keys are the names of the lists at the top level of the body. */
  lists: Readonly<Record<string, number>>;
  /** Estimated input tokens of the whole request. */
  inputTokens: number;
}

/** The report of a handler at the end of an answer. */
export interface JobEnd {
  usage: Usage;
  /** A value of the chat format: stop, length, tool_calls, content_filter. */
  finishReason: string;
}

/** Receives the answer of a handler: bytes in the client's format. A streamed answer consists of server-sent events. */
export interface Reply {
  /**
   * Adds headers of the upstream's answer, with names in lower case. Call it before the first `write`, because the headers are sent with
   * the first piece. The ingress passes on only the headers that the client's format names, and `fittedLimitHeader`. An error has headers
   * of its own.
   */
  addHeaders(headers: Readonly<Record<string, string>>): void;
  /**
   * Adds a piece of the answer. Pieces of a stream that follow each other within the coalescing window are sent together. The pieces of an
   * answer that is not streamed are sent at its end.
   */
  write(piece: string | Uint8Array): void;
  /**
   * Returns undefined if there is room for further pieces, otherwise a promise that resolves when there is room. While the dispatcher is
   * out of reach, the sent pieces fill the memory that keeps them. A handler that can wait then stops reading its upstream.
   */
  waitForRoom?(): Promise<void> | undefined;
}

/**
 * Serves one job. Resolves when the whole answer is written. After the signal aborts (the client has left, or the worker stops), the
 * handler must end the generation and settle soon.
 * @throws RouterError with which the job fails; any other error counts as `internal`
 */
export type JobHandler = (job: GrantedJob, reply: Reply, signal: AbortSignal) => Promise<JobEnd>;
