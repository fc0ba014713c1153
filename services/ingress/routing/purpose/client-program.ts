import type { IncomingHttpHeaders } from 'node:http';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';

/** A coding agent that is recognized by its requests. */
export interface ClientProgram {
  isSender(headers: IncomingHttpHeaders): boolean;
  /**
   * Returns the purpose of a request, and the agent session of which the request is a turn.
   * @param signs what the body shows of the purpose; undefined for a format whose bodies show nothing of it
   */
  read(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): RequestPurpose;
}
