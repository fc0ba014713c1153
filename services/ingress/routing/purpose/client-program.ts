import type { IncomingHttpHeaders } from 'node:http';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';

/** A coding agent that is recognized by its requests. */
export interface ClientProgram {
  isSender(headers: IncomingHttpHeaders): boolean;
  /**
   * Returns the purpose of a request, and the agent session that the request belongs to.
   * @param signs signs of the purpose in the body; undefined for a format without such signs
   */
  read(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose;
}
