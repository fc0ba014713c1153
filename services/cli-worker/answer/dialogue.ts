import type { JsonObject } from '#shared/core/json.ts';
import type { Translation } from '#shared/translate/translation.ts';
import type { UpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Usage } from '#shared/core/usage.ts';

export interface Outcome {
  /** Reason in the chat format: `stop`, `length`, `tool_calls` or `content_filter`. */
  finishReason: string;
  /** Tokens that the CLI counted; absent if it reports none. */
  usage?: Usage | undefined;
}

/**
 * Translates clients' requests into requests to a kind of CLI, and the CLI's answers into answers for clients. It uses the translations of
 * one upstream format: the pieces of an answer are first written in that format, and then translated.
 */
export interface Dialogue<Request, Piece> {
  readonly upstream: UpstreamFormat;
  /** One translation for each client format that is served. */
  readonly translations: readonly Translation<Request>[];
  /** Creates the limiter with which the worker ends an answer at its client's limits; absent if the upstream applies the limits. */
  createLimiter?(request: Request): AnswerLimiter<Piece>;
  /** Returns the data of the upstream event for a piece of a streamed answer. */
  encodePiece(piece: Piece): string;
  /** Returns the data of the events that end a streamed answer. */
  encodeEnd(outcome: Outcome): string[];
  /** Returns the upstream's body for an answer that is not streamed. */
  encodeWhole(pieces: readonly Piece[], outcome: Outcome): JsonObject;
}

export interface AnswerLimiter<Piece> {
  /** The limit that the answer has reached; undefined until it reaches one. */
  readonly reachedLimit: 'stop' | 'length' | undefined;
  /** Adds a piece of the answer and returns the pieces that the client gets now. */
  push(piece: Piece): Piece[];
  /** Ends the answer and returns the text that was held back. */
  end(): Piece[];
}
