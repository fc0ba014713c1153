import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#shared/core/log.ts';
import type { DueDelivery, WebhookDeliveries } from '#shared/accounts/webhooks/webhook-deliveries.ts';

/** Deliveries that are taken at once. */
const atOnce = 64;

/** Milliseconds between two looks at what is due. */
const lookEveryMs = 1_000;

export interface WebhookRelayParts {
  deliveries: Pick<WebhookDeliveries, 'takeDue'>;
  /** Puts a delivery into the queue of those who try them. One that it loses is due again after some minutes. */
  enqueue: (due: DueDelivery) => Promise<void>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Puts deliveries into a queue when they are due. Any number of processes may do so: each delivery is taken by one of them.
 * @returns resolves when the signal has aborted and nothing more is put into the queue
 */
export async function relayWebhooks(
  { deliveries, enqueue, log }: WebhookRelayParts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let mayBeMore = false;
    try {
      const taken = await deliveries.takeDue(atOnce);
      await Promise.all(taken.map(enqueue));
      mayBeMore = taken.length === atOnce;
    } catch (error) {
      log.warn({ err: error }, 'webhooks that are due cannot be queued');
    }
    if (!mayBeMore) await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}
