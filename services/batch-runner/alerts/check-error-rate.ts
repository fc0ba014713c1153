import type { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import type { WebhookEvent, WebhookEventType } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { windowSeconds, type ErrorRateSnapshot } from './error-view.ts';

const kind = 'errors';
const field = 'share';

/** Requests below which a percentage is not meaningful. */
const minRequests = 20;

export interface ErrorRateCheckParts {
  states: AlertStates;
  /** Percentage of failed requests above which an alert begins. The alert ends at half of this percentage. */
  percent: number;
}

/**
 * Begins an alert when more than `percent` of the requests of the last five minutes failed, and ends the alert when at most half of
 * `percent` failed. Beginning and end are each reported once in the cluster. Only a process that has listened for the whole five minutes
 * ends an alert.
 * @throws RouterError `store_unavailable`
 */
export async function checkErrorRate(
  { requests, faults, isWhole }: ErrorRateSnapshot,
  { states, percent: threshold }: ErrorRateCheckParts,
  now = Date.now(),
): Promise<void> {
  const raisedAt = (await states.readAll(kind)).get(field);
  const percent = (100 * faults) / Math.max(1, requests);
  const reportChange = (
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
    return states.change({ kind, field, from: raisedAt, to, event });
  };
  if (raisedAt === undefined && requests >= minRequests && percent > threshold)
    await reportChange(String(now), 'rtr.errors.high');
  else if (raisedAt !== undefined && isWhole && requests > 0 && percent <= threshold / 2)
    await reportChange(undefined, 'rtr.errors.normal');
}
