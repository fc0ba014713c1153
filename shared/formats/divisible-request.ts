import type { Json } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';

/** A request that several workers can share, because each of its inputs has a separate part of the answer. */
export interface DivisibleRequest {
  inputs: number;
  /**
   * Returns the body of a request for the inputs from `from` up to `to` (exclusive).
   * @param defaults fields that are added where the client left them out
   */
  part: (defaults: Readonly<Record<string, Json>>, from: number, to: number) => Buffer;
  /**
   * Joins the answers to the parts into the answer to the whole request.
   * @param answers the answers to the parts, in order
   * @param usage the usage of all parts together
   * @throws RouterError `upstream_failed` if an answer cannot be read
   */
  join: (answers: readonly Buffer[], usage: Usage) => Buffer;
}
