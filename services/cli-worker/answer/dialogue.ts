import type { JsonObject } from '#shared/core/json.ts';
import type { Translation } from '#shared/translate/translation.ts';
import type { UpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Outcome } from './outcome.ts';

/**
 * How clients' requests become those of a kind of CLI, and its answers those of clients: by the translations of an upstream
 * format, in which the answer's pieces are written.
 */
export interface Dialogue<Request, Piece> {
  readonly upstream: UpstreamFormat;
  /** One from each client format that is served. */
  readonly translations: readonly Translation<Request>[];
  /** The limits that the worker itself keeps for an answer; absent where the upstream keeps them. */
  limits?(request: Request): AnswerLimiter<Piece>;
  /** Data of the upstream event for a piece of a streamed answer. */
  event(piece: Piece): string;
  /** Data of the events that end a streamed answer. */
  ending(outcome: Outcome): string[];
  /** The upstream's body for an answer that is not streamed. */
  whole(pieces: readonly Piece[], outcome: Outcome): JsonObject;
}

/** Ends an answer at its client's limits. */
export interface AnswerLimiter<Piece> {
  /** The limit that the answer has reached; undefined before. */
  readonly ended: 'stop' | 'length' | undefined;
  /** Takes a piece of the answer. Returns what the client gets now. */
  push(piece: Piece): Piece[];
  /** Returns what was kept back, at the answer's end. */
  end(): Piece[];
}
