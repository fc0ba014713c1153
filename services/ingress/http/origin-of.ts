import type { Response } from 'express';
import type { RequestOrigin } from '#shared/serving/request-origin.ts';
import { requestIdOf } from './request-id.ts';
import { identityOf } from './require-key.ts';
import { traceOf } from './trace-request.ts';

/** Who sent a request and how it is known. Only behind `requireKey`. */
export function originOf(response: Response): RequestOrigin {
  return { requestId: requestIdOf(response), identity: identityOf(response), trace: traceOf(response) };
}
