import type { IdempotentAnswers } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import type { ResponseChanges } from '#shared/accounts/background-responses/response-changes.ts';
import type { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import type { Logger } from '#shared/core/log.ts';
import type { StoringRoom } from '#shared/serving/stored/storing-room.ts';
import type { OpenRequests } from '../http/open-requests.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';

/** What became of a request with an idempotency key. */
export type KeyedOutcome = 'executed' | 'joined' | 'replayed' | 'resumed' | 'abandoned';

/** What requests with an idempotency key need at the ingress. One object per process. */
export interface IdempotencyParts {
  answers: IdempotentAnswers;
  /** Has requests wait while Redis is restarted. */
  outages: Pick<ShortOutages, 'through'>;
  changes: Pick<ResponseChanges, 'watch'>;
  /** Bounds what answers have in memory until it is written. */
  room: StoringRoom;
  unread: UnreadOutputs;
  open: Pick<OpenRequests, 'hold'>;
  store: {
    /** @throws RouterError `store_unavailable` while the store is known to have lost what it had */
    assertIntact: () => void;
  };
  /** Milliseconds for which an answer goes on without a client. */
  graceMs: number;
  /** Milliseconds without a byte after which the client of a stream gets a sign of life. */
  keepAliveMs: number;
  /** Milliseconds for which a client may read nothing of an answer. */
  unreadMs: number;
  /** Milliseconds for which a client may send nothing of an upload. */
  bodyTimeoutMs: number;
  /** Aborts when the time to drain is over. */
  ending: AbortSignal;
  count: (outcome: KeyedOutcome) => void;
  log: Logger;
}
