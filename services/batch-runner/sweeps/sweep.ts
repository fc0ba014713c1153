import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { WebhookDeliveries } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { releaseObjects, type ReleaseParts } from '../batches/release-objects.ts';

export const sweptKinds = ['stored_response', 'recording', 'webhook_delivery', 'batch'] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** Largest number of calls per sweep and kind that remove stored things. Each call removes up to a hundred. */
const maxStoredCalls = 50;

/** Largest number of batches per sweep whose objects are removed. */
const maxBatches = 100;

export interface SweepParts {
  /** For each kind of stored thing, removes some that have expired, and returns how many. Files have a sweep of their own: `FileSweep`. */
  stores: Record<'stored_response' | 'recording', () => Promise<number>>;
  deliveries: Pick<WebhookDeliveries, 'sweep'>;
  batches: Pick<BatchWork, 'listOrphans' | 'drop'> & ReleaseParts['batches'];
  files: ReleaseParts['files'];
  count: (kind: SweptKind, count: number) => void;
}

/**
 * Removes records that nothing else removes: records without an expiry in Redis, and the remains of expired records elsewhere. Records
 * beyond the largest number per sweep are left to the next sweep.
 * @throws RouterError `store_unavailable`
 */
export async function sweep({ stores, deliveries, batches, files, count }: SweepParts): Promise<void> {
  for (const kind of ['stored_response', 'recording'] as const)
    for (let calls = 0, swept = 1; calls < maxStoredCalls && swept > 0; calls += 1) {
      swept = await stores[kind]();
      count(kind, swept);
    }
  count('webhook_delivery', await deliveries.sweep());
  for (const id of await batches.listOrphans(maxBatches)) {
    await releaseObjects({ batches, files }, id);
    await batches.drop(id);
    count('batch', 1);
  }
}
