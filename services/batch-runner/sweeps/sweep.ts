import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { StoredResponses } from '#shared/accounts/stored-responses/stored-responses.ts';
import type { WebhookDeliveries } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { releaseObjects, type ReleaseParts } from '../batches/release-objects.ts';

/** What is swept. */
export const sweptKinds = ['stored_response', 'webhook_delivery', 'batch'] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** Calls that sweep stored responses in one run, each of which removes a hundred. */
const storedCalls = 50;

/** Batches whose objects are removed in one run. */
const mostBatches = 100;

export interface SweepParts {
  stored: Pick<StoredResponses, 'sweep'>;
  deliveries: Pick<WebhookDeliveries, 'sweep'>;
  work: Pick<BatchWork, 'forgotten' | 'drop'> & ReleaseParts['work'];
  files: ReleaseParts['files'];
  /** Is called with how many of a kind were swept. */
  count: (kind: SweptKind, count: number) => void;
}

/**
 * Removes what is over and nothing else removes: what Redis does not let expire by itself, and what it lets expire without what belongs
 * to it elsewhere. Files have a sweep of their own, see `FileSweep`. What is too much for one run is left to the next.
 * @throws RouterError `store_unavailable`
 */
export async function sweep({ stored, deliveries, work, files, count }: SweepParts): Promise<void> {
  for (let calls = 0, swept = 1; calls < storedCalls && swept > 0; calls += 1) {
    swept = await stored.sweep();
    count('stored_response', swept);
  }
  count('webhook_delivery', await deliveries.sweep());
  for (const id of await work.forgotten(mostBatches)) {
    await releaseObjects({ work, files }, id);
    await work.drop(id);
    count('batch', 1);
  }
}
