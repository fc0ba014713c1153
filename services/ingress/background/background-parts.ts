import type { BackgroundResponses } from '#shared/accounts/background-responses/background-responses.ts';
import type { ResponseChanges } from '#shared/accounts/background-responses/response-changes.ts';
import type { FollowerPlaces } from '../http/follower-places.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';

export interface BackgroundParts {
  responses: BackgroundResponses;
  changes: Pick<ResponseChanges, 'watch'>;
  places: FollowerPlaces;
  jobs: Pick<BackgroundJobs, 'add' | 'remove'>;
  /** Milliseconds without a byte after which a stream gets a keep-alive comment. */
  keepAliveMs: number;
  /** Milliseconds without progress after which a client that does not read its stream is disconnected. */
  unreadMs: number;
  /** Aborts when this node stops, so that clients continue their streams at another node. */
  closing: AbortSignal;
}
