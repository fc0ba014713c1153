import type { IncomingHttpHeaders } from 'node:http';
import type { Purpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';

/** A coding agent whose requests show what they are for. */
export interface ClientProgram {
  /** Whether a request with these headers is from it. */
  isSender(headers: IncomingHttpHeaders): boolean;
  /**
   * What its request is for.
   * @param signs those of the body; undefined if it has none
   */
  purposeOf(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): Purpose;
  /** The type of the agent that sends the request, in its words; undefined if it does not say. */
  agentTypeOf?(headers: IncomingHttpHeaders): string | undefined;
}
