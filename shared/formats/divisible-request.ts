import type { Json } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/** A request with many inputs, each of which has a part of the answer, so that several workers can share it. */
export interface DivisibleRequest {
  /** Number of its inputs. */
  inputs: number;
  /**
   * The body of a request for the inputs from `from` up to `to` (exclusive).
   * @param defaults fields that are added where the client left them out
   */
  part: (defaults: Readonly<Record<string, Json>>, from: number, to: number) => Buffer;
  /**
   * The answer to the whole request.
   * @param answers the answers to its parts, in order
   * @param usage of all parts together
   * @throws RouterError `upstream_failed` if one of them cannot be read
   */
  join: (answers: readonly Buffer[], usage: Usage) => Buffer;
}
