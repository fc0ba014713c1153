import type { BackgroundResponses } from '#shared/accounts/background-responses/background-responses.ts';
import type { ResponseChanges } from '#shared/accounts/background-responses/response-changes.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';

/** What responses in the background need at the ingress. */
export interface BackgroundParts {
  responses: BackgroundResponses;
  changes: Pick<ResponseChanges, 'watch'>;
  jobs: Pick<BackgroundJobs, 'add'>;
  /** Milliseconds without a byte after which the client of a stream gets a sign of life. */
  keepAliveMs: number;
  /** Milliseconds for which a client may read nothing of a stream. */
  unreadMs: number;
  /** Aborts when this process stops. */
  closing: AbortSignal;
}
