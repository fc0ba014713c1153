import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { StoredResponses } from '#shared/accounts/stored-responses/stored-responses.ts';
import type { WebhookDeliveries } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { releaseObjects, type ReleaseParts } from '../batches/release-objects.ts';

export const sweptKinds = ['stored_response', 'webhook_delivery', 'batch'] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** Largest number of calls per sweep that remove stored responses. Each call removes up to a hundred. */
const maxStoredCalls = 50;

/** Largest number of batches per sweep whose objects are removed. */
const maxBatches = 100;

export interface SweepParts {
  storedResponses: Pick<StoredResponses, 'sweep'>;
  deliveries: Pick<WebhookDeliveries, 'sweep'>;
  batches: Pick<BatchWork, 'listOrphans' | 'drop'> & ReleaseParts['batches'];
  files: ReleaseParts['files'];
  count: (kind: SweptKind, count: number) => void;
}

/**
 * Removes records that nothing else removes: records without an expiry in Redis, and the remains of expired records elsewhere. Files have a
 * sweep of their own, see `FileSweep`. Records beyond the largest number per sweep are left to the next sweep.
 * @throws RouterError `store_unavailable`
 */
export async function sweep({ storedResponses, deliveries, batches, files, count }: SweepParts): Promise<void> {
  for (let calls = 0, swept = 1; calls < maxStoredCalls && swept > 0; calls += 1) {
    swept = await storedResponses.sweep();
    count('stored_response', swept);
  }
  count('webhook_delivery', await deliveries.sweep());
  for (const id of await batches.listOrphans(maxBatches)) {
    await releaseObjects({ batches, files }, id);
    await batches.drop(id);
    count('batch', 1);
  }
}
