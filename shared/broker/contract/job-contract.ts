import { z } from 'zod';
import type { Operation } from '#shared/core/operation.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { Usage } from '#shared/core/usage.ts';

/** The name of a client format. The broker contract does not define which formats exist. */
export const formatName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);

/**
 * A person's MCP account link, for one call of a tool of that MCP server. The token belongs to the person. It is never logged, and not kept
 * after the call.
 */
export const serverConnection = z.object({
  /** The operator's name for the MCP server. */
  server: z.string(),
  /** The MCP server's URL, as the dispatcher knows it. The worker sends the token only there. */
  url: z.string(),
  token: z.string(),
  /** The MCP server's name for the tool; absent to list the server's tools. */
  tool: z.string().optional(),
});

export type McpAccountLink = z.infer<typeof serverConnection>;

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
  /** The client's headers that an upstream of the client's own format needs, names in lower case. Absent if the client sent none. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id that the answer must have; absent if the worker chooses it. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. Never logged. */
  ownerKey?: string | undefined;
  /** See `Grant.connection`. Never logged. */
  connection?: McpAccountLink | undefined;
  /** See `Grant.unread`. */
  unread?: UnreadLists | undefined;
  /** The worker's span of this job, if jobs are traced: the parent of the spans of its work. */
  trace?: TraceSpan | undefined;
  /** The part of an answer to continue that the client already has, in the client's format. See `Grant.relayedBytes`. */
  relayed?: Buffer | undefined;
  /** The client's body as it came: JSON in UTF-8, already validated by the ingress. Read it with `readRequest`, which releases it. */
  body: Buffer;
}

/** The parts of a body that its worker need not parse, if the upstream speaks the client's format. */
export interface UnreadLists {
  /** Lists at the top of the body by name, each with the number of fields of all objects in it. */
  lists: Readonly<Record<string, number>>;
  /** Estimated input tokens of the whole request. */
  inputTokens: number;
}

export interface JobEnd {
  usage: Usage;
  /** A value of the chat format: stop, length, tool_calls, content_filter. */
  finishReason: string;
}

/** Receives the answer of a handler: bytes in the client's format, server-sent events if the job streams. */
export interface Reply {
  /**
   * Sends headers of the upstream's answer, names in lower case, with the first piece. The ingress passes on those that the client's format
   * names, and `fittedLimitHeader`. Call it before the first piece; further calls add headers. An error has its own headers.
   */
  head(headers: Readonly<Record<string, string>>): void;
  /**
   * Queues a piece of the answer. Pieces of a stream that follow each other within the coalescing window travel together; the pieces of
   * an answer that is not streamed wait for its end.
   */
  write(piece: string | Uint8Array): void;
  /**
   * Resolves when there is room for further pieces. Undefined if there is room now. If the dispatcher is out of reach for long, the sent
   * pieces fill the memory that keeps them. A handler that can wait then stops reading its upstream.
   */
  room?(): Promise<void> | undefined;
}

/**
 * Serves one job. Resolves when the answer is complete and written. After the signal aborts (the client has left, or the worker stops),
 * the handler must end the generation and settle soon.
 * @throws RouterError for the client; any other error counts as `internal`
 */
export type JobHandler = (job: GrantedJob, reply: Reply, signal: AbortSignal) => Promise<JobEnd>;
