import type { IncomingHttpHeaders } from 'node:http';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';

/** A coding agent whose requests show what they are for. */
export interface ClientProgram {
  /** Whether a request with these headers is from it. */
  isSender(headers: IncomingHttpHeaders): boolean;
  /**
   * What its request is for, and the session that it is a turn of.
   * @param signs those of the body; undefined if it has none
   */
  read(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose;
}
