import { sweptStores, type SweptStore } from '#shared/accounts/people/owned-kinds.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { WebhookDeliveries } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { releaseObjects, type ReleaseParts } from '../batches/release-objects.ts';

const storeKinds = Object.keys(sweptStores) as SweptStore[];

export const sweptKinds = [...storeKinds, 'webhook_delivery', 'batch'] as const;
export type SweptKind = (typeof sweptKinds)[number];

/** Largest number of calls per sweep and kind that remove stored things. Each call removes up to a hundred. */
const maxStoredCalls = 50;

/** Largest number of batches per sweep whose objects are removed. */
const maxBatches = 100;

export interface SweepParts {
  /** Removes some of the expired things in a store. Returns how many were removed. */
  sweepStore: (kind: SweptStore) => Promise<number>;
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
export async function sweep({ sweepStore, deliveries, batches, files, count }: SweepParts): Promise<void> {
  for (const kind of storeKinds)
    for (let calls = 0, swept = 1; calls < maxStoredCalls && swept > 0; calls += 1) {
      swept = await sweepStore(kind);
      count(kind, swept);
    }
  count('webhook_delivery', await deliveries.sweep());
  for (const id of await batches.listOrphans(maxBatches)) {
    await releaseObjects({ batches, files }, id);
    await batches.drop(id);
    count('batch', 1);
  }
}
