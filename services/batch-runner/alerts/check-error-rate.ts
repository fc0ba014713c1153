import type { AlertStates } from '#shared/accounts/alerts/alert-states.ts';
import type { WebhookEvent, WebhookEventType } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { windowSeconds, type ErrorRateSnapshot } from './error-view.ts';

const kind = 'errors';
const field = 'share';

/** Requests below which a percentage is not meaningful. */
const minRequests = 20;

export interface ErrorLook {
  states: AlertStates;
  /** Percentage of requests above which failures are reported. The alert ends at half of it. */
  percent: number;
}

/**
 * Reports when more than a percentage of the requests of the last five minutes failed, and when the error rate is normal again. Each change
 * is reported once in the cluster. The alert ends when at most half of that percentage fails. Only a process that has listened for the
 * whole five minutes ends it.
 * @throws RouterError `store_unavailable`
 */
export async function checkErrorRate(
  { requests, faults, isWhole }: ErrorRateSnapshot,
  { states, percent: threshold }: ErrorLook,
  now = Date.now(),
): Promise<void> {
  const from = (await states.readAll(kind)).get(field);
  const percent = (100 * faults) / Math.max(1, requests);
  const change = (
    to: string | undefined,
    type: Extract<WebhookEventType, `rtr.errors.${string}`>,
  ): Promise<boolean> => {
    const data = {
      requests,
      failed: faults,
      percent: Math.round(10 * percent) / 10,
      threshold,
      seconds: windowSeconds,
    };
    const event: WebhookEvent = { id: createEventId(), type, owners: ['router'], data };
    return states.change({ kind, field, from, to, event });
  };
  if (from === undefined && requests >= minRequests && percent > threshold)
    await change(String(now), 'rtr.errors.high');
  else if (from !== undefined && isWhole && requests > 0 && percent <= threshold / 2)
    await change(undefined, 'rtr.errors.normal');
}
