import type { IdempotentAnswers } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import type { ShortOutages } from '#shared/store/redis/short-outages.ts';
import type { Logger } from '#shared/core/log.ts';
import type { CountedLimits } from '#shared/serving/count-request.ts';
import type { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import type { FollowParts } from '../http/follow-journal.ts';
import type { FollowerPlaces } from '../http/follower-places.ts';
import type { OpenRequests } from '../http/open-requests.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';

export type KeyedOutcome = 'executed' | 'joined' | 'replayed' | 'resumed' | 'abandoned';

export interface IdempotencyParts extends CountedLimits, FollowParts {
  answers: IdempotentAnswers;
  /** Makes requests wait while Redis restarts. */
  outages: Pick<ShortOutages, 'retry'>;
  places: FollowerPlaces;
  /** Bounds the memory of all answers that are not written yet. */
  journalBudget: StoreQueueBudget;
  unreadOutputs: UnreadOutputs;
  openRequests: Pick<OpenRequests, 'trackDetached'>;
  store: {
    /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
    assertIntact: () => void;
  };
  /** Milliseconds for which an execution continues without a client. */
  graceMs: number;
  /** Milliseconds without progress after which an upload is aborted. */
  bodyTimeoutMs: number;
  count: (outcome: KeyedOutcome) => void;
  log: Logger;
}
